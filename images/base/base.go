// Package base is what a program wants from a system besides itself, as the lowest layer of its image. It must not know which program.
package base

import (
	"encoding/pem"

	"golang.org/x/crypto/x509roots/fallback/bundle"

	"github.com/trellis-garden/trellis/images"
)

// Authorities is where Go and OpenSSL look for certificate authorities. Who needs others mounts them here.
const Authorities = "/etc/ssl/certs/ca-certificates.crt"

// Source is the module that the authorities come from.
const Source = "golang.org/x/crypto/x509roots/fallback"

// protocols are the names of protocols with ports, as in Debian's file. Without them nft lists "17" for "udp", and Kubernetes' proxier, which compares what it wants
// with what is listed, removes the addresses of Services that it has just confirmed.
const protocols = "icmp\t1\tICMP\ntcp\t6\tTCP\nudp\t17\tUDP\nipv6-icmp\t58\tIPv6-ICMP\nsctp\t132\tSCTP\n"

// Layer holds the users root and nonroot, names of protocols, and the certificate authorities that Mozilla trusts: no shell, no package, no folder to write to.
//
// The authorities come from a module of the Go project: pinned by go.mod, the same on every machine, and there even where the machine has none itself.
func Layer() (*images.Layer, error) {
	return images.NewLayer(
		images.File{Path: "/etc/passwd", Content: []byte("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n")},
		images.File{Path: "/etc/group", Content: []byte("root:x:0:\nnonroot:x:65532:\n")},
		images.File{Path: "/etc/protocols", Content: []byte(protocols)},
		images.File{Path: Authorities, Content: authorities()},
	)
}

// authorities leaves out those that are trusted under a condition, such as only for certificates of before some day: the file cannot say so.
func authorities() []byte {
	var all []byte
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			all = append(all, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})...)
		}
	}
	return all
}
