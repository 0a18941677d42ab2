// Command privcom-image builds PrivCom's container image without a daemon, a
// registry or a base image: FROM scratch, with the static binaries, the
// certificate authorities that buckets need, a user, and a list of what the
// binaries were built from (SPDX 2.3, made from their own build information).
//
// The image is a function of the sources, the Go version, the version string,
// the platform and SOURCE_DATE_EPOCH: two builds are the same bytes. It is a
// module of its own, so that the product does not depend on what builds it.
//
//	cd deploy/image && go run . --version 0.1.0 --out privcom.tar
//
// The tar file is what "docker load", "podman load" and "ctr images import"
// read. With --static the image holds one given binary instead; the cluster
// tests use that for their servers.
package main
