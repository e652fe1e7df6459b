"""Limits on everything that strangers' bytes can take: input, output, time and memory."""

# A study and its parts
MAX_FILES = 200_000
MAX_UNPACKED = 2 * 1024**3
MAX_RATIO = 200  # unpacked bytes per packed byte
RATIO_FREE = 1024**2  # unpacked size that is always allowed, whatever the ratio
MAX_FILE = 64 * 1024**2  # a page or one of its files is held in memory while it is stored
MAX_LINE = 16 * 1024**2
MAX_DIRECTORY = 32 * 1024**2  # of a zip archive: about 200,000 names

# Values of a record
MAX_CANDIDATES = 1000  # per query
MAX_ID = 300
MAX_NAME = 300
MAX_SLUG = 100
MAX_PATH = 1000
MAX_TITLE = 1000
MAX_URL = 4000
MAX_QUERY = 10_000
MAX_FEATURES = 10_000
MAX_VALUES = 50_000  # of a record in JSON, nested ones included
GRADE_RANGE = (-1000, 1000)

# A page in Markdown; what exceeds these is shown as plain text
MAX_MARKDOWN = 200_000  # characters
MAX_BRACKETS = 4000  # a link or picture may begin at each

# A child process that reads PDF files, pictures and Parquet files
CHILD_MEMORY = 192 * 1024**2  # what it writes to; scans need 113 MB
TOO_LARGE = f"it needs more than {CHILD_MEMORY // 1024**2:,} MB to read"
STEP_SECONDS = 15  # processor time for one page of a PDF, one picture, or a batch of rows
STEP_WALL_SECONDS = 60
TASK_SECONDS = 300  # processor time for one file
TASKS_PER_CHILD = 200
MAX_PDF_PAGES = 300
MAX_PIXELS = 100_000_000  # of a picture
