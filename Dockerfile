# The image of a release: moon, the programs that it sends to hosts, and nothing else; docs/releases.md says what it is good for.
# .goreleaser.yaml builds it, from the programs of the release.
FROM scratch
ARG TARGETPLATFORM
COPY $TARGETPLATFORM/moon /usr/bin/moon
COPY dist/agents /usr/lib/moon/agents
COPY LICENSE release/THIRD-PARTY-NOTICES /usr/share/doc/moon/
ENV HOME=/root
WORKDIR /work
ENTRYPOINT ["/usr/bin/moon"]
