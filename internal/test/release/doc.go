// Package release tests what people install: what .goreleaser.yaml makes of these sources, and for which systems.
//
//	.goreleaser.yaml · Dockerfile ─▶ what archives, packages and the image have · sources ──types, as for each system──▶ mistakes
//	make packages-test ──nfpm──▶ deb, rpm, apk ──scratch roots──▶ moon
package release
