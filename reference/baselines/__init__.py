"""The references' mathematics in another order: the measure of what rounding may do.

A baseline works in its input's dtype throughout, has its reference's signature, and is
differentiable where the drill asks for gradients. Named `<drill>_<how>`.
"""
