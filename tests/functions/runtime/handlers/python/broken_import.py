import no_such_module_anywhere


def handler(event, context):
    return 1
