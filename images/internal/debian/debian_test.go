package debian

import (
	"archive/tar"
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/blakesmith/ar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/ulikunitz/xz"
)

// deb returns a package with files, and with symbolic links where content begins with "-> ".
func deb(t *testing.T, files map[string]string) []byte {
	var data bytes.Buffer
	packed, err := xz.NewWriter(&data)
	require.NoError(t, err)
	archive := tar.NewWriter(packed)
	for name, content := range files {
		header := &tar.Header{Name: "." + name, Mode: 0o755, Size: int64(len(content)), Typeflag: tar.TypeReg}
		if len(content) > 3 && content[:3] == "-> " {
			header.Typeflag, header.Linkname, header.Size, content = tar.TypeSymlink, content[3:], 0, ""
		}
		require.NoError(t, archive.WriteHeader(header))
		_, err := archive.Write([]byte(content))
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	require.NoError(t, packed.Close())
	var all bytes.Buffer
	outer := ar.NewWriter(&all)
	require.NoError(t, outer.WriteGlobalHeader())
	for _, member := range []struct {
		name    string
		content []byte
	}{{"debian-binary", []byte("2.0\n")}, {"control.tar.xz", []byte("none")}, {"data.tar.xz", data.Bytes()}} {
		require.NoError(t, outer.WriteHeader(&ar.Header{Name: member.name, Size: int64(len(member.content)), ModTime: time.Unix(0, 0), Mode: 0o644}))
		_, err := outer.Write(member.content)
		require.NoError(t, err)
	}
	return all.Bytes()
}

func TestFiles_Read(t *testing.T) {
	files := Files{}
	require.NoError(t, files.Add(deb(t, map[string]string{
		"/usr/sbin/tool": "program", "/usr/lib/so.1": "-> so.1.2", "/usr/lib/so.1.2": "library", "/lib64/ld.so": "-> /lib/real.so", "/lib/real.so": "linker",
		"/usr/lib/loop": "-> loop", "/usr/share/doc/tool/copyright": "free",
	})))
	for name, want := range map[string]string{
		"/usr/sbin/tool": "program", "/sbin/tool": "program", "/usr/lib/so.1": "library", "/lib/so.1": "library", "/lib64/ld.so": "linker", "/usr/lib/real.so": "linker",
	} {
		content, found := files.read(name)
		assert.True(t, found, name)
		assert.Equal(t, want, string(content), name)
	}
	for _, name := range []string{"/usr/lib/loop", "/usr/lib/none"} {
		_, found := files.read(name)
		assert.False(t, found, name)
	}
	_, text, found := files.Copyright("tool")
	assert.True(t, found)
	assert.Equal(t, "free", string(text))
}

// TestFiles_Closure takes the shell of this machine for the program of a package.
func TestFiles_Closure(t *testing.T) {
	const program = "/bin/sh"
	machine := map[string]string{}
	target, err := filepath.EvalSymlinks(program)
	require.NoError(t, err)
	content, err := os.ReadFile(target)
	require.NoError(t, err)
	machine["/usr/bin/sh"] = string(content)
	incomplete := Files{}
	require.NoError(t, incomplete.Add(deb(t, machine)))
	_, err = incomplete.Closure(program)
	require.ErrorContains(t, err, "/bin/sh needs /lib")
	assert.ErrorContains(t, err, "which no package has")

	for _, name := range []string{
		"/lib/x86_64-linux-gnu/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1",
	} {
		if content, err := os.ReadFile(name); err == nil {
			machine[name] = string(content)
		}
	}
	complete := Files{}
	require.NoError(t, complete.Add(deb(t, machine)))
	closure, err := complete.Closure(program)
	require.NoError(t, err)
	var names []string
	for name := range closure {
		names = append(names, filepath.Base(name))
	}
	assert.Contains(t, names, "sh")
	assert.Contains(t, names, "libc.so.6")
	assert.Len(t, names, 3, "the program, its library and the dynamic linker: %v", names)

	_, err = complete.Closure("/usr/bin/other")
	assert.EqualError(t, err, "no package has /usr/bin/other")
}

func TestAdd_NotAPackage(t *testing.T) {
	assert.ErrorContains(t, Files{}.Add([]byte("no archive")), "archive")
	var empty bytes.Buffer
	require.NoError(t, ar.NewWriter(&empty).WriteGlobalHeader())
	assert.EqualError(t, Files{}.Add(empty.Bytes()), "it has no data.tar.xz")
}

func TestFetch(t *testing.T) {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		if r.URL.Path != "/debian/pool/tool_1_amd64.deb" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte("content"))
	}))
	defer server.Close()
	source := Source{Mirror: server.URL + "/debian/", Cache: filepath.Join(t.TempDir(), "debian"), Client: server.Client()}
	p := Package{Name: "tool", Version: "1", Path: "pool/tool_1_ARCH.deb", SHA256: map[string]string{"amd64": checksum([]byte("content")), "arm64": checksum([]byte("x"))}}
	for range 2 {
		content, err := source.Fetch(t.Context(), p, "amd64")
		require.NoError(t, err)
		assert.Equal(t, "content", string(content))
	}
	assert.Equal(t, 1, requests, "the second time it is in the cache")

	_, err := source.Fetch(t.Context(), p, "arm64")
	require.ErrorContains(t, err, "404 Not Found; mirrors keep the newest versions only")
	_, err = source.Fetch(t.Context(), p, "riscv64")
	require.EqualError(t, err, "package tool: there is no checksum for riscv64")
	p.SHA256["amd64"] = checksum([]byte("something else"))
	_, err = source.Fetch(t.Context(), p, "amd64")
	require.ErrorContains(t, err, "has the checksum "+checksum([]byte("content")))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = source.Fetch(ended, p, "amd64")
	assert.ErrorIs(t, err, context.Canceled)
}

func TestNewSource_Variable(t *testing.T) {
	t.Setenv(MirrorVariable, "http://mirror.example.org/debian")
	source, err := NewSource(t.Context(), "cache")
	require.NoError(t, err)
	assert.Equal(t, "http://mirror.example.org/debian", source.Mirror)
}

func TestNewSource_Apt(t *testing.T) {
	const (
		vendor   = "|Vendor|http://vendor.example.org/apt"
		ubuntu   = "Ubuntu|Ubuntu|http://ubuntu.example.org/ubuntu"
		security = "Debian|Debian-Security|http://debian.example.org/debian-security"
		main     = "Debian|Debian|http://debian.example.org/debian"
	)
	for name, test := range map[string]struct {
		lines []string
		want  string
	}{
		"takes the main archive of Debian":                      {lines: []string{main, security}, want: "http://debian.example.org/debian"},
		"passes over vendors and the security team's archive":   {lines: []string{vendor, security, main}, want: "http://debian.example.org/debian"},
		"has none on a machine with another distribution":       {lines: []string{ubuntu}},
		"has none on a machine whose apt has read no index yet": {},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			script := "#!/bin/sh\ncat <<'END'\n" + strings.Join(test.lines, "\n") + "\nEND\n"
			require.NoError(t, os.WriteFile(filepath.Join(folder, "apt-get"), []byte(script), 0o755))
			t.Setenv(MirrorVariable, "")
			t.Setenv("PATH", folder+string(filepath.ListSeparator)+os.Getenv("PATH"))
			source, err := NewSource(t.Context(), "cache")
			if test.want == "" {
				assert.ErrorContains(t, err, "apt names none; set $TRELLIS_DEBIAN_MIRROR")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, source.Mirror)
		})
	}
}
