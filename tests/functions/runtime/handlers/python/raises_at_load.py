print("loading")


def configure():
    raise KeyError("TABLE")


configure()
