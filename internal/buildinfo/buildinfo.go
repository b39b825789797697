// Package buildinfo says which build of Trellis a binary is. It knows nothing else, so that every binary can use it.
package buildinfo

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Set by the linker (see LDFLAGS in the Makefile) and by nobody else. A binary built without them falls back to what
// the Go toolchain recorded.
//
//nolint:gochecknoglobals // the linker can set nothing else
var (
	version string
	commit  string
	date    string
)

const unknown = "unknown"

// Info identifies a build.
type Info struct {
	// Version is the output of git describe, e.g. v0.1.0 or v0.1.0-3-g1f2e3d4.
	Version string
	// Commit is the full hash of the commit, with the suffix "-dirty" when the tree had changes.
	Commit string
	// Date is the commit's date in RFC 3339, not the date of the compilation: the same commit gives the same binary.
	Date string
}

// Read returns the identity of the running binary. Every field is set, if only to "unknown".
func Read() Info {
	recorded, _ := debug.ReadBuildInfo()
	fallback := fromToolchain(recorded)
	return Info{
		Version: cmp.Or(version, fallback.Version),
		Commit:  cmp.Or(commit, fallback.Commit),
		Date:    cmp.Or(date, fallback.Date),
	}
}

// String returns one line such as "v0.1.0 (commit 1f2e3d4, 2026-01-02T03:04:05Z, go1.26.5 linux/amd64)".
func (i Info) String() string {
	return fmt.Sprintf("%s (commit %s, %s, %s %s/%s)",
		i.Version, i.Commit, i.Date, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func fromToolchain(recorded *debug.BuildInfo) Info {
	info := Info{Version: unknown, Commit: unknown, Date: unknown}
	if recorded == nil {
		return info
	}
	info.Version = cmp.Or(recorded.Main.Version, unknown)
	settings := make(map[string]string, len(recorded.Settings))
	for _, s := range recorded.Settings {
		settings[s.Key] = s.Value
	}
	info.Commit = cmp.Or(settings["vcs.revision"], unknown)
	info.Date = cmp.Or(settings["vcs.time"], unknown)
	if settings["vcs.modified"] == "true" {
		info.Commit += "-dirty"
	}
	return info
}
