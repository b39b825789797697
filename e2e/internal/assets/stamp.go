package assets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// stamp contains all that decides whether an existing program is up to date.
type stamp struct{ version, toolchain, flags, sources string }

// String is the content of the stamp file, one line.
func (s stamp) String() string {
	return strings.Join([]string{s.version, s.toolchain, s.sources, s.flags}, " ") + "\n"
}

func (b build) stamp(ctx context.Context) (stamp, error) {
	version, err := b.version()
	if err != nil {
		return stamp{}, err
	}
	toolchain, err := b.goTool(ctx, "env", "GOVERSION", "GOOS", "GOARCH")
	if err != nil {
		return stamp{}, err
	}
	hash := sha256.New()
	for _, file := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(b.source, file))
		if err != nil {
			return stamp{}, err
		}
		hash.Write(content)
	}
	return stamp{
		version:   version,
		toolchain: strings.Join(strings.Fields(toolchain), "/"),
		sources:   hex.EncodeToString(hash.Sum(nil))[:16],
		flags:     b.linkerFlags(version),
	}, nil
}

// version reads go.mod itself: the go command would load the whole module graph, which takes a second.
func (b build) version() (string, error) {
	content, err := os.ReadFile(filepath.Join(b.source, "go.mod"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) >= 2 && strings.HasPrefix(fields[1], "v") && strings.HasPrefix(b.pkg+"/", fields[0]+"/") {
			return fields[1], nil
		}
	}
	return "", fmt.Errorf("go.mod requires no module that has the package %s", b.pkg)
}

// linkerFlags strips the program and sets its version, as its release does. Otherwise a kube-apiserver has the version v0.0.0-master, which
// clients refuse, and a cloud-controller-manager has none to send to its cloud.
func (b build) linkerFlags(version string) string {
	flags := "-s -w"
	if strings.HasPrefix(b.pkg, "go.etcd.io/") || strings.HasPrefix(b.pkg, calico) {
		return flags // it knows by itself, or asks nobody
	}
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	for _, variable := range []string{"gitVersion=" + version, "gitMajor=" + major, "gitMinor=" + minor, "gitTreeState=clean"} {
		flags += " -X k8s.io/component-base/version." + variable
	}
	if strings.HasPrefix(b.pkg, "k8s.io/cloud-provider-openstack/") {
		flags += " -X k8s.io/cloud-provider-openstack/pkg/version.Version=" + version
	}
	return flags
}
