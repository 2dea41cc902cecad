# A044 invalid: names an encoding that there is not
# -*- coding: no-such-code -*-
