# A046 wrong_answer: a coroutine that nobody awaits
async def softmax(x, dim=-1):
    return x
