package assets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/remote"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/store"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/versions"
)

// IndexVariable names the environment variable with the URL of an index of prebuilt programs, instead of that of controller-tools. The value off
// disables downloads.
const IndexVariable = "TRELLIS_ENVTEST_INDEX"

const (
	downloadsOff = "off"
	// indexTimeout bounds the request that tells whether the internet is there, downloadTimeout the download of 60 to 70 MB.
	indexTimeout    = 5 * time.Second
	downloadTimeout = 3 * time.Minute
)

// prebuilt are the programs of an API server as controller-tools releases them.
type prebuilt struct {
	version versions.Concrete
	// sums are the SHA-512 sums of the archives in hexadecimal, by platform.
	sums map[string]string
	// index is the URL of the index; empty for that of controller-tools.
	index string
}

// pinnedPrebuilt returns the release that is nearest to the version that is built from source. The sums are those of controller-tools'
// envtest-releases.yaml.
func pinnedPrebuilt() prebuilt {
	return prebuilt{
		version: versions.Concrete{Major: 1, Minor: 36, Patch: 2},
		sums: map[string]string{
			"darwin/arm64": "9278f9e5af556b2f1f2d139769c1f0d717c7b4426917fdebdba898bcb725a916e4910d6160886194ff9be9589ea7c5c32c2b8ae0754703874b7c8ba8ddfc41ce",
			"linux/amd64":  "ea743186c8a799f5cf8faf16969f86189d003cb7d130e0ac4b58789f1e5748dcf30ebe91c837a10d5ac415383da3e10b9e64d65785c938c23e739781cfb76f08",
			"linux/arm64":  "2d72ee985a8e262a3c57dc9f7f0fd891f6a8c7bf7ebaa2db6dc6d8eac8ae28181afe51c1f368b67756cdb40b10de9b205609e1726e5f27f7c6d824dd9c6649ac",
		},
		index: os.Getenv(IndexVariable),
	}
}

// stamp is the content of the stamp file of each program, one line; empty if there is no archive for this platform, or downloads are disabled.
func (p prebuilt) stamp() string {
	sum := p.sums[runtime.GOOS+"/"+runtime.GOARCH]
	if sum == "" || p.index == downloadsOff {
		return ""
	}
	return fmt.Sprintf("envtest-v%s %s\n", p.version, sum)
}

// install downloads the programs of an API server into a folder. It fails if the index does not answer soon, or if the archive is not the pinned one.
func (p prebuilt) install(ctx context.Context, dir string) error {
	ctx = logr.NewContext(ctx, logr.Discard())
	platform := versions.PlatformItem{
		Platform: versions.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH},
		Hash:     &versions.Hash{Type: versions.SHA512HashType, Encoding: versions.HexHashEncoding, Value: p.sums[runtime.GOOS+"/"+runtime.GOARCH]},
	}
	releases := &remote.HTTPClient{Log: logr.Discard(), IndexURL: p.index}
	if err := withTimeout(ctx, indexTimeout, func(ctx context.Context) error {
		_, err := releases.ListVersions(ctx)
		return err
	}); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp(dir, ".download-")
	if err != nil {
		return err
	}
	defer func() { _ = removeReadOnly(temporary) }()
	archive, err := os.Create(filepath.Join(temporary, "archive"))
	if err != nil {
		return err
	}
	defer func() { _ = archive.Close() }()
	if err := withTimeout(ctx, downloadTimeout, func(ctx context.Context) error {
		return releases.GetVersion(ctx, p.version, platform, archive)
	}); err != nil {
		return err
	}
	if _, err := archive.Seek(0, io.SeekStart); err != nil {
		return err
	}
	unpacked, item := store.NewAt(temporary), store.Item{Version: p.version, Platform: platform.Platform}
	if err := unpacked.Add(ctx, item, archive); err != nil {
		return fmt.Errorf("unpacking the archive: %w", err)
	}
	return p.move(unpacked, item, dir)
}

// move moves the programs to their names in the folder. A stamp is written after its program, so that an interrupted installation is repeated.
func (p prebuilt) move(from *store.Store, item store.Item, dir string) error {
	folder, err := from.Path(item)
	if err != nil {
		return err
	}
	if err := os.Chmod(folder, 0o755); err != nil { // the store makes it read-only
		return err
	}
	for _, name := range APIServer() {
		b := build{name: name, dir: dir}
		if err := os.Remove(b.stampFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("removing the stamp of another program: %w", err)
		}
		if err := os.Rename(filepath.Join(folder, name), b.target()); err != nil {
			return err
		}
		if err := os.WriteFile(b.stampFile(), []byte(p.stamp()), 0o644); err != nil {
			return fmt.Errorf("writing the stamp: %w", err)
		}
	}
	return nil
}

func withTimeout(ctx context.Context, timeout time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return do(ctx)
}

// removeReadOnly removes a folder with folders that cannot be written to.
func removeReadOnly(dir string) error {
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			return os.Chmod(path, 0o755)
		}
		return err
	})
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}
