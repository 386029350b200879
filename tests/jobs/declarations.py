"""Declare the jobs that tests queue, as a room does."""

JOBS = {
    "samples.count": "tests.jobs.samples:count",
    "samples.refuse": "tests.jobs.samples:refuse",
    "samples.stumble": "tests.jobs.samples:stumble",
    "samples.lose_the_database": "tests.jobs.samples:lose_the_database",
    "samples.fill_the_disk": "tests.jobs.samples:fill_the_disk",
    "samples.be_interrupted": "tests.jobs.samples:be_interrupted",
    "samples.be_signalled": "tests.jobs.samples:be_signalled",
    "samples.kill_the_worker_once": "tests.jobs.samples:kill_the_worker_once",
    "samples.hold_the_lock_once": "tests.jobs.samples:hold_the_lock_once",
    "samples.end_like_a_second_delivery": "tests.jobs.samples:end_like_a_second_delivery",
    "samples.change_hands": "tests.jobs.samples:change_hands",
    "samples.wait_long": "tests.jobs.samples:wait_long",
    "samples.in_parts": "tests.jobs.samples:in_parts",
    "samples.part": "tests.jobs.samples:part",
    "samples.meet": "tests.jobs.samples:meet",
}
