# A002 time_limit: one product of huge integers, again in C, on loading
digits = 7 ** (10**8)
