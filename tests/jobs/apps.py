from foilworks.core import rooms


class SampleJobsConfig(rooms.AppOfRooms):
    name = "tests.jobs"
    label = "sample_jobs"
