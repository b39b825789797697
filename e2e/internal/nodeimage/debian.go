package nodeimage

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/images"
)

const (
	// suite is the last release of Debian whose systemd supports cgroups of version 1 without further settings; it supports version 2, too.
	suite = "bookworm"
	// MirrorVariable names the environment variable for another mirror of Debian than apt's.
	MirrorVariable = "TRELLIS_DEBIAN_MIRROR"
	publicMirror   = "http://deb.debian.org/debian"
)

// nodePackages are what a node needs besides Debian's essential packages. udev and dbus are left out: runc uses systemd without them.
func nodePackages() []string {
	return []string{
		"systemd", "systemd-sysv", "iptables", "nftables", "conntrack", "iproute2", "ethtool", "kmod", "mount",
		"util-linux", "procps", "libseccomp2", "jq", "ca-certificates",
	}
}

// unusedFiles are patterns of unused files, and of files that describe this machine.
func unusedFiles() []string {
	return []string{
		"var/cache/apt/*", "var/lib/apt/lists/*", "var/log/*", "dev/*", "run/*", "tmp/*",
		"usr/share/doc/*", "usr/share/man/*", "usr/share/info/*", "usr/share/locale/*", "usr/share/lintian", "usr/share/bash-completion",
		"etc/hostname", "etc/resolv.conf", "etc/machine-id",
		// Units that make no sense in a container.
		"etc/systemd/system/*.wants/*", "lib/systemd/system/multi-user.target.wants/*", "lib/systemd/system/local-fs.target.wants/*",
		"lib/systemd/system/basic.target.wants/*", "lib/systemd/system/sockets.target.wants/*udev*",
		"lib/systemd/system/sockets.target.wants/*initctl*", "lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service",
	}
}

// Programs returns files for an image: programs of Debian by their paths, with all libraries that they are linked with. The packages are those that they are in.
// They are downloaded once for each list of packages.
func Programs(ctx context.Context, progress io.Writer, packages []string, paths ...string) ([]images.File, error) {
	b, unlock, err := newBuild(ctx, progress)
	if err != nil {
		return nil, err
	}
	defer unlock()
	tree, err := b.debian(ctx, "debian-programs", packages)
	if err != nil {
		return nil, err
	}
	return withLibraries(tree, paths...)
}

// debian returns the folder with Debian's file system of that name, with packages besides the essential ones.
func (b *build) debian(ctx context.Context, name string, packages []string) (string, error) {
	tree := b.cached(name)
	key := strings.Join(slices.Concat([]string{suite, b.toolchain}, packages, unusedFiles()), " ")
	return tree, b.keyedStage(name, key, tree, func() error {
		temporary := tree + ".new"
		for _, dir := range []string{temporary, tree} {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
		}
		// In its own mount namespace: a busy mount that it cannot unmount ends with the namespace.
		if _, err := output(ctx, b.cache,
			"unshare", "--mount", "debootstrap", "--variant=minbase", "--include="+strings.Join(packages, ","), suite, temporary, mirror(ctx)); err != nil {
			return fmt.Errorf("%w\n%s", err, lastLines(filepath.Join(temporary, "debootstrap", "debootstrap.log")))
		}
		for _, pattern := range unusedFiles() {
			if err := removeAll(filepath.Join(temporary, pattern)); err != nil {
				return err
			}
		}
		return os.Rename(temporary, tree)
	})
}

// mirror is this machine's apt source of the suite, or the public one if it has none.
func mirror(ctx context.Context) string {
	if named := os.Getenv(MirrorVariable); named != "" {
		return named
	}
	targets, _ := output( // nothing where there is no apt
		ctx, "", "apt-get", "indextargets", "--format", "$(CODENAME) $(RELEASE) $(ORIGIN) $(REPO_URI)", "Created-By: Packages", "Component: main")
	return cmp.Or(mirrorIn(targets), publicMirror)
}

// mirrorIn parses apt's list: lines of code name, release, origin, which may be missing, and address.
func mirrorIn(targets string) string {
	for line := range strings.Lines(targets) {
		fields := strings.Fields(line)
		if len(fields) < 3 || len(fields) == 4 && fields[2] != "Debian" {
			continue
		}
		if fields[0] == suite || fields[1] == suite {
			return fields[len(fields)-1]
		}
	}
	return ""
}

func removeAll(pattern string) error {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

func lastLines(file string) string {
	content, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return tail(string(content))
}

func sorted(list []string) []string { slices.Sort(list); return list }
