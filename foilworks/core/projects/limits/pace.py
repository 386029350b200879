"""How fast and how much clients send. It imports nothing: the web worker reads it before the pages are loaded."""

MIB = 1024 * 1024
# A sign-in, code or invitation is much smaller. It is read into memory before the person is known.
SMALL_BODY_BYTES = 64 * 1024
# A head takes this long at most. A body is free for one window; then each window must bring the minimum rate.
HEAD_SECONDS = 10.0
WINDOW_SECONDS = 10.0
MIN_BYTES_PER_SECOND = 16 * 1024
# A body that is incomplete after this time counts as unfinished.
UNFINISHED_SECONDS = 1.0
MAX_UNFINISHED = 50
MAX_UNFINISHED_PER_ADDRESS = 4
# More of a request, or of a response, is stored on disk.
BUFFER_BYTES = 256 * 1024
# In the environ of a request whose head alone has arrived; the response CONTINUE admits its body. ADMITTED: it has.
HEAD_ONLY, ADMITTED = "foilworks.head_only", "foilworks.admitted"
CONTINUE = 100
