# Three images without a shell, run as a non-root user:
#   docker build --target worker .     the Temporal worker, and the codec server
#   docker build --target cli .        the CLI armature, for pipelines and jobs
#   docker build --target armsim .     the ARM simulator
# Digest of the index, as several public repositories pin this tag (read 2026-11-22, for
# example kubeswift-spin and cozyplane), not from the registry; make digests resolves it.
FROM --platform=$BUILDPLATFORM golang:1.26.8-bookworm@sha256:a688600ca24f8a4d3ca77f95b0dd40704a9fc787c826660eb7ba0b641b8b175d AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=unknown
# Go builds for the other platforms on the builder's own, without emulation.
ARG TARGETOS
ARG TARGETARCH
ENV GOOS=$TARGETOS GOARCH=$TARGETARCH
ENV CGO_ENABLED=0 GOFLAGS=-buildvcs=false GOTOOLCHAIN=local
RUN go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/ ./worker \
 && go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/armature ./starter/cmd \
 && go build -trimpath -ldflags "-s -w" -o /out/armsim ./armsim/cmd \
 && mkdir /empty

FROM scratch AS worker
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/worker /worker
USER 65532:65532
ENTRYPOINT ["/worker"]

FROM scratch AS cli
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/armature /armature
# Mount manifests here: docker run -v "$PWD:/work:ro" ... validate -f .
WORKDIR /work
USER 65532:65532
ENTRYPOINT ["/armature"]

FROM scratch AS armsim
COPY --from=build /out/armsim /armsim
# The simulator writes its CA here; a new volume inherits the folder's owner.
COPY --from=build --chown=65532:65532 /empty /tls
USER 65532:65532
ENTRYPOINT ["/armsim"]
