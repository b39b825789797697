package images

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestProgram_Platform(t *testing.T) {
	base := layerOf(t, File{Path: "/etc/passwd"})
	for _, architecture := range []string{"amd64", "arm64"} {
		t.Run(architecture, func(t *testing.T) {
			image, err := Program(compile(t, architecture), Config{User: "0", Env: []string{"A=b"}}, base)
			require.NoError(t, err)
			assert.Equal(t, "linux/"+architecture, image.Platform.String())
			assert.Empty(t, cmp.Diff(Config{Entrypoint: []string{"/hello"}, User: "0", Env: []string{"A=b"}}, image.Config))
			require.Len(t, image.Layers, 2)
			assert.Same(t, base, image.Layers[0])
			content := contentOf(t, image.Layers[1])
			require.Len(t, content, 1)
			assert.Equal(t, int64(0o755), content["hello"].Mode)
		})
	}
}

func TestProgram_Invalid(t *testing.T) {
	text := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(text, []byte("#!/bin/sh\necho this is no binary\n"), 0o600))
	loader := filepath.Join(t.TempDir(), "dynamic")
	source := filepath.Join(t.TempDir(), "main.c")
	require.NoError(t, os.WriteFile(source, []byte("int main(void) { return 0; }\n"), 0o600))
	require.NoError(t, exec.Command("gcc", "-o", loader, source).Run())

	mips := compile(t, "amd64")
	header, err := os.ReadFile(mips)
	require.NoError(t, err)
	header[18] = byte(elf.EM_MIPS)
	require.NoError(t, os.WriteFile(mips, header, 0o600))

	for sentence, c := range map[string]struct{ binary, want string }{
		"a script":                                    {text, "bad magic number"},
		"a file that is not there":                    {"/nowhere/x", "no such file"},
		"a binary that needs a libc":                  {loader, "CGO_ENABLED=0"},
		"a processor that no machine of a garden has": {mips, "EM_MIPS; only amd64 and arm64 are known"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := Program(c.binary, Config{})
			assert.ErrorContains(t, err, "making an image of "+c.binary)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func compile(t *testing.T, architecture string) string {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	// Without a package of the library, each platform is compiled in a moment.
	require.NoError(t, os.WriteFile(source, []byte("package main\n\nfunc main() { println(\"hello\") }\n"), 0o600))
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(dir, "hello"), source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+architecture)
	output, err := build.CombinedOutput()
	require.NoError(t, err, string(output))
	return filepath.Join(dir, "hello")
}
