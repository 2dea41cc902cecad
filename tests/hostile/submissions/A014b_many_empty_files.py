# A014 resource_limit|time_limit: empty files without end
import itertools

for number in itertools.count():
    open(f"{number}", "w").close()
