# A017 runtime_error|resource_limit: opens files until there are no numbers left
kept = []


def softmax(x, dim=-1):
    while True:
        kept.append(open("/dev/null"))
