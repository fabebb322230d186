import os


def read(path):
    if not os.path.exists(path):
        return {}
    with open(path) as f:
        return dict(line.rstrip('\n').split('=', 1) for line in f)


def write(path, pairs):
    with open(path, 'w') as f:
        for key in sorted(pairs):
            f.write('%s=%s\n' % (key, pairs[key]))
