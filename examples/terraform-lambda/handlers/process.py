"""What is done with a message: it fails if it says so, and for good if it says that, too."""


class Hopeless(Exception):
    pass


def process_message(body):
    print(f"processing {body}")
    if "hopeless" in body.lower():
        raise Hopeless("no retry will help")
    if "fail" in body.lower():
        raise Exception("simulated processing failure")
