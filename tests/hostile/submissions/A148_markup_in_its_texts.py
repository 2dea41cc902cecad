# A148 runtime_error: markup of HTML, of the terminal and of templates in its message
# says: <script>
def softmax(x, dim=-1):
    raise ValueError("<script>alert(1)</script> [red]passed[/red] {{ 7 * 7 }} {% raw %}")
