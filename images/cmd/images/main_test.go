package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/images/internal/cli"
)

// root is the root of the repository.
const root = "../../.."

// stamp is what the flags say in these tests.
func stamp() []string {
	return []string{"--version", "v1.2.3", "--commit", "0123abc", "--date", "2026-01-02T03:04:05Z"}
}

func TestRun_OneBinary(t *testing.T) {
	const binary = "network-controller"
	out := t.TempDir()
	output := mustRun(t, append(stamp(), "--source", root, "--out", out, "--binary", binary, "--platform", "linux/"+runtime.GOARCH)...)

	image, err := tarball.ImageFromPath(filepath.Join(out, binary+".tar"), nil)
	require.NoError(t, err)
	require.NoError(t, validate.Image(image))
	config, err := image.ConfigFile()
	require.NoError(t, err)
	assert.Equal(t, []string{"/" + binary}, config.Config.Entrypoint)
	assert.Equal(t, "65532:65532", config.Config.User)
	assert.Equal(t, map[string]string{
		"org.opencontainers.image.title":    binary,
		"org.opencontainers.image.version":  "v1.2.3",
		"org.opencontainers.image.revision": "0123abc",
		"org.opencontainers.image.created":  "2026-01-02T03:04:05Z",
		"org.opencontainers.image.source":   "https://github.com/trellis-garden/trellis",
		"org.opencontainers.image.licenses": "Apache-2.0",
	}, config.Config.Labels)

	files := extract(t, mutate.Extract(image))
	assert.Contains(t, string(files["etc/ssl/certs/ca-certificates.crt"]), "BEGIN CERTIFICATE")
	assert.Contains(t, string(files["etc/passwd"]), "nonroot")
	assert.True(t, bytes.Equal(asMakeBuildsIt(t, binary), files[binary]), "make build gives another binary")

	bill, err := os.ReadFile(filepath.Join(out, binary+"."+runtime.GOARCH+".cdx.json"))
	require.NoError(t, err)
	for _, component := range []string{
		"pkg:golang/github.com/trellis-garden/trellis@v1.2.3#cmd/network-controller", "pkg:golang/github.com/trellis-garden/trellis/apis@v1.2.3",
		"pkg:golang/stdlib@", "pkg:golang/sigs.k8s.io/controller-runtime@v", "pkg:golang/golang.org/x/crypto/x509roots/fallback@v",
	} {
		assert.Contains(t, string(bill), component)
	}
	digests, err := os.ReadFile(filepath.Join(out, "digests.txt"))
	require.NoError(t, err)
	assert.Regexp(t, `^ghcr.io/trellis-garden/trellis/network-controller:v1.2.3@sha256:[0-9a-f]{64}\n$`, string(digests))
	assert.Contains(t, output, "==> network-controller for linux/"+runtime.GOARCH)
	assert.Contains(t, output, "docker load -i "+filepath.Join(out, binary+".tar"))
	assert.NotContains(t, output, "no license", "every component of the product has a license that is known")
}

func TestRun_PushAllPlatforms(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	repository := strings.TrimPrefix(server.URL, "http://") + "/team"
	out := t.TempDir()
	output := mustRun(t, append(stamp(), "--source", smallModule(t), "--out", out, "--push", repository)...)

	digests, err := os.ReadFile(filepath.Join(out, "digests.txt"))
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(digests)), "\n")
	require.Len(t, lines, 2, "one for each folder in cmd/ but that of a tool")
	for i, command := range []string{"bye", "hello"} {
		tag, digest, _ := strings.Cut(lines[i], "@")
		assert.Equal(t, repository+"/"+command+":v1.2.3", tag)
		ref, err := name.ParseReference(tag)
		require.NoError(t, err)
		index, err := remote.Index(ref)
		require.NoError(t, err)
		require.NoError(t, validate.Index(index))
		pushed, err := index.Digest()
		require.NoError(t, err)
		assert.Equal(t, digest, pushed.String())
		assert.Contains(t, output, digest)

		manifest, err := index.IndexManifest()
		require.NoError(t, err)
		require.Len(t, manifest.Manifests, 2)
		for j, architecture := range []string{"amd64", "arm64"} {
			assert.Equal(t, "linux/"+architecture, manifest.Manifests[j].Platform.String())
			assert.FileExists(t, filepath.Join(out, command+"."+architecture+".cdx.json"))
			bills, err := remote.Referrers(ref.Context().Digest(manifest.Manifests[j].Digest.String()))
			require.NoError(t, err)
			found, err := bills.IndexManifest()
			require.NoError(t, err)
			assert.Len(t, found.Manifests, 1, "the bill of materials")
		}
	}
}

func TestRun_Reproducible(t *testing.T) {
	source := smallModule(t)
	build := func() map[string][]byte {
		out := t.TempDir()
		mustRun(t, append(stamp(), "--source", source, "--out", out, "--binary", "hello")...)
		files := map[string][]byte{}
		entries, err := os.ReadDir(out)
		require.NoError(t, err)
		for _, e := range entries {
			files[e.Name()], err = os.ReadFile(filepath.Join(out, e.Name()))
			require.NoError(t, err)
		}
		return files
	}
	first, second := build(), build()
	assert.Len(t, first, 4, "archive, two bills, digests")
	for name, content := range first {
		assert.True(t, bytes.Equal(content, second[name]), name)
	}
}

func TestRun_Errors(t *testing.T) {
	source := smallModule(t)
	require.NoError(t, os.WriteFile(filepath.Join(source, "cmd", "bye", "main.go"), []byte("package main\n\nfunc main() { undefined() }\n"), 0o600))
	out := filepath.Join(t.TempDir(), "out")
	good := []string{"build", "--version", "v1", "--out", out, "--source", source}
	for sentence, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no command":                  {nil, cli.ExitUsage, "the commands are build and verify"},
		"another command":             {[]string{"push"}, cli.ExitUsage, "the commands are build and verify"},
		"a flag that is not known":    {append(good, "--fast"), cli.ExitUsage, "-fast"},
		"an argument":                 {append(good, "hello"), cli.ExitUsage, `build takes flags only, not "hello"`},
		"no version":                  {[]string{"build", "--out", out}, cli.ExitUsage, "--version and --out are needed"},
		"a version that is no tag":    {append(good, "--version", "v1+x"), cli.ExitUsage, "makes no name for an image"},
		"a repository without a host": {append(good, "--push", "team"), cli.ExitUsage, "makes no name for an image"},
		"a date of another form":      {append(good, "--date", "yesterday"), cli.ExitUsage, `--date "yesterday" is no time such as`},
		"a platform without binaries": {append(good, "--platform", "windows/amd64"), cli.ExitUsage, `"windows/amd64" is none of linux/amd64, linux/arm64`},
		"a platform twice":            {append(good, "--platform", "linux/arm64,linux/arm64"), cli.ExitUsage, "names linux/arm64 twice"},
		"a binary that is not there":  {append(good, "--binary", "x"), cli.ExitFailed, `there is no command "x"; there are bye, hello`},
		"a key that is not there":     {append(good, "--sign-key", filepath.Join(out, "none")), cli.ExitFailed, "--sign-key: open "},
		"nothing to verify":           {[]string{"verify", "--key", "key.pub"}, cli.ExitUsage, "verify needs --key and an archive or an image"},
		"another folder":              {append(good, "--source", out), cli.ExitFailed, "there is no folder cmd in " + out},
		"code that does not compile":  {append(good, "--binary", "bye"), cli.ExitFailed, "undefined: undefined"},
		"a registry that is not there": {
			append(good, "--binary", "hello", "--platform", "linux/amd64", "--push", "127.0.0.1:1/team"), cli.ExitFailed, "pushing 127.0.0.1:1/team/hello:v1",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			var problems bytes.Buffer
			assert.Equal(t, c.code, program().Do(t.Context(), c.args, io.Discard, &problems))
			assert.Contains(t, problems.String(), c.want)
		})
	}
}

func TestHelp_AllFlags(t *testing.T) {
	var out, problems bytes.Buffer
	assert.Zero(t, program().Do(context.Background(), []string{"build", "--help"}, &out, &problems))
	assert.Empty(t, problems.String())
	for _, flag := range []string{"version", "out", "commit", "date", "binary", "platform", "repository", "push", "sign-key", "source", "key"} {
		assert.Contains(t, out.String(), "\n  --"+flag+" ")
	}
}

func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	var out, problems bytes.Buffer
	require.Zero(t, program().Do(t.Context(), append([]string{"build"}, args...), &out, &problems), "%s%s", &out, &problems)
	return out.String()
}

// asMakeBuildsIt returns the binary that the Makefile's own command gives for the same stamp.
func asMakeBuildsIt(t *testing.T, binary string) []byte {
	t.Helper()
	show := exec.Command("make", "-n", "bin/"+binary, "VERSION=v1.2.3", "COMMIT=0123abc", "DATE=2026-01-02T03:04:05Z")
	show.Dir = root
	shown, err := show.Output()
	require.NoError(t, err)
	_, command, found := strings.Cut(string(shown), "CGO_ENABLED=0 go build")
	require.True(t, found, string(shown))
	command, _, _ = strings.Cut(command, "\n")
	built := filepath.Join(t.TempDir(), binary)
	checkout, err := filepath.Abs(root)
	require.NoError(t, err)
	program := filepath.Join(checkout, "bin", binary)
	require.Contains(t, command, program)
	build := exec.Command("bash", "-c", "GOWORK=off CGO_ENABLED=0 go build"+strings.Replace(command, program, built, 1))
	build.Dir = filepath.Join(root, "cmd", binary) // as the Makefile does
	output, err := build.CombinedOutput()
	require.NoError(t, err, string(output))
	content, err := os.ReadFile(built)
	require.NoError(t, err)
	return content
}

// smallModule is a module that compiles in a moment.
func smallModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":            "module example.org/small\n\ngo 1.26\n",
		"cmd/hello/main.go": "package main\n\nfunc main() { println(\"hello\") }\n",
		"cmd/bye/main.go":   "package main\n\nfunc main() { println(\"bye\") }\n",
		// A tool for admins has no image.
		"cmd/trellis-tool/main.go": "package main\n\nfunc main() { println(\"tool\") }\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	return dir
}

func extract(t *testing.T, from io.Reader) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for reader := tar.NewReader(from); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		files[header.Name], err = io.ReadAll(reader)
		require.NoError(t, err)
	}
}
