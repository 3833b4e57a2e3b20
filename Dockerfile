# Three images without a shell, run as a non-root user:
#   docker build --target worker .     the Temporal worker, and the codec server
#   docker build --target cli .        the CLI armature, for pipelines and jobs
#   docker build --target armsim .     the ARM simulator
# Each contains its program and the certificates of public authorities, nothing else. A
# release, and make images, build these targets with buildah and replace the stages build and
# debian by folders (--build-context build=dist); the stage build gives the same programs
# (docs/contributing/release.md).

# Digest of the index, as several public repositories pin this tag (read 2026-11-22, for
# example kubeswift-spin and cozyplane), not from the registry; make digests resolves it.
FROM --platform=$BUILDPLATFORM golang:1.26.8-bookworm@sha256:a688600ca24f8a4d3ca77f95b0dd40704a9fc787c826660eb7ba0b641b8b175d AS debian

FROM debian AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=unknown
# Go builds for the other platforms on the builder's own, without emulation.
ARG TARGETOS
ARG TARGETARCH
ENV GOOS=$TARGETOS GOARCH=$TARGETARCH
ENV CGO_ENABLED=0 GOFLAGS='-buildvcs=false -trimpath' GOTOOLCHAIN=local
RUN flags="-X main.version=${VERSION}" && platform="${TARGETOS}-${TARGETARCH}" \
 && go build -ldflags "$flags" -o "/armature-$platform" ./starter/cmd \
 && go build -ldflags "$flags" -o "/armature-worker-$platform" ./worker \
 && go build -ldflags "$flags" -o "/armsim-$platform" ./armsim/cmd

FROM scratch AS worker
ARG TARGETOS
ARG TARGETARCH
COPY --from=debian /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build --chmod=755 /armature-worker-${TARGETOS}-${TARGETARCH} /worker
USER 65532:65532
ENTRYPOINT ["/worker"]

FROM scratch AS cli
ARG TARGETOS
ARG TARGETARCH
COPY --from=debian /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build --chmod=755 /armature-${TARGETOS}-${TARGETARCH} /armature
# Mount manifests here: docker run -v "$PWD:/work:ro" ... validate -f .
WORKDIR /work
USER 65532:65532
ENTRYPOINT ["/armature"]

FROM scratch AS armsim
ARG TARGETOS
ARG TARGETARCH
COPY --from=build --chmod=755 /armsim-${TARGETOS}-${TARGETARCH} /armsim
# The simulator writes its CA here; a new volume inherits the folder's owner. /srv is empty.
COPY --from=debian --chown=65532:65532 /srv /tls
USER 65532:65532
ENTRYPOINT ["/armsim"]
