package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"debug/pe"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/images/internal/cli"
	"github.com/trellis-garden/trellis/images/internal/signing"
	"github.com/trellis-garden/trellis/images/internal/verifier"
)

// root is the root of the repository.
const root = "../../.."

const changelog = `# Changes

## Unreleased

- Something newer.

## v1.2.3 (2026-01-02)

- One change ([how](docs/how.md), [semver](https://semver.org)).

### Fixed

- Another.

## v1.2.2

- An older one.
`

// newCheckout is a repository with two commands that compile in a moment, and with our charts, in one commit.
func newCheckout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":                         "module example.org/small\n\ngo 1.26\n",
		"CHANGELOG.md":                   changelog,
		"cmd/network-controller/main.go": "package main\n\nfunc main() { println(\"hello\") }\n",
		"cmd/bye/main.go":                "package main\n\nfunc main() { println(\"bye\") }\n",
		"cmd/trellis-tool/main.go":       "package main\n\nfunc main() { println(\"tool\") }\n",
		"LICENSE":                        "A license.\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o750))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	require.NoError(t, os.CopyFS(filepath.Join(dir, "charts"), os.DirFS(filepath.Join(root, "charts"))))
	inGit(t, dir, "init", "--quiet")
	commitAll(t, dir)
	return dir
}

func commitAll(t *testing.T, dir string) {
	t.Helper()
	inGit(t, dir, "add", "--all")
	inGit(t, dir, "commit", "--quiet", "--allow-empty", "--message", "all")
}

func inGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@example.org", "GIT_COMMITTER_NAME=test",
		"GIT_COMMITTER_EMAIL=test@example.org", "GIT_COMMITTER_DATE=2026-01-02T04:04:05+01:00")
	output, err := command.CombinedOutput()
	require.NoError(t, err, "git %v: %s", args, output)
	return strings.TrimSpace(string(output))
}

func writeKey(t *testing.T) string {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "signing.key")
	require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600))
	return path
}

func startRegistry(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func readFile(t *testing.T, path ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return string(content)
}

// verify checks subjects by the public key of the release.
func verify(t *testing.T, out string, subjects ...string) (string, error) {
	t.Helper()
	key, err := signing.ReadPublicKey([]byte(readFile(t, out, "signing-key.pub")))
	require.NoError(t, err)
	var printed bytes.Buffer
	err = verifier.All(t.Context(), key, subjects, &printed)
	return printed.String(), err
}

func TestPublish(t *testing.T) {
	source, out, repository := newCheckout(t), filepath.Join(t.TempDir(), "out"), startRegistry(t)+"/team"
	var output, problems bytes.Buffer
	require.Zero(t, program().Do(t.Context(), []string{
		"publish", "--version", "v1.2.3", "--push", repository, "--sign-key", writeKey(t), "--out", out, "--source", source,
		"--binary", "network-controller", "--platform", "linux/amd64", "--tool-platform", "linux/amd64,windows/arm64",
	}, &output, &problems), "%s%s", &output, &problems)
	commit := inGit(t, source, "rev-parse", "HEAD")
	assert.Contains(t, output.String(), "Released v1.2.3 of commit "+commit+": 1 images and 9 charts in "+repository)
	assert.Equal(t, "- One change ([how](https://example.org/small/blob/v1.2.3/docs/how.md), [semver](https://semver.org)).\n\n### Fixed\n\n- Another.\n",
		readFile(t, out, "notes.md"))

	images, charts := readFile(t, out, "digests.txt"), readFile(t, out, "chart-digests.txt")
	assertRegistrations(t, out, repository, images, charts)
	assertPacked(t, out)
	assertTools(t, out)
	pushed := strings.Fields(images + charts)
	require.Len(t, pushed, 10)
	for line := range strings.FieldsSeq(charts) {
		assert.Equal(t, archiveOf(t, out, line), pullChart(t, line))
	}
	for _, file := range []string{"SHA256SUMS", "digests.txt", "chart-digests.txt", "network-controller.tar"} {
		pushed = append(pushed, filepath.Join(out, file))
	}
	printed, err := verify(t, out, pushed...)
	require.NoError(t, err)
	assert.Equal(t, 11, strings.Count(printed, "signed; built from commit "+commit+" as v1.2.3"), printed)
	assert.Regexp(t, `SHA256SUMS\n  signed; \d+ files are as it says, 0 are not here\n`, printed)
	assert.FileExists(t, filepath.Join(out, "network-controller.amd64.cdx.json"))

	require.NoError(t, os.Remove(filepath.Join(out, "network-controller.tar")))
	printed, err = verify(t, out, filepath.Join(out, "SHA256SUMS"))
	require.NoError(t, err)
	assert.Contains(t, printed, "1 are not here")
	require.NoError(t, os.WriteFile(filepath.Join(out, "notes.md"), []byte("changed"), 0o600))
	_, err = verify(t, out, filepath.Join(out, "SHA256SUMS"))
	require.ErrorContains(t, err, "notes.md is not the file that was signed")
	require.NoError(t, os.WriteFile(filepath.Join(out, "SHA256SUMS"), nil, 0o600))
	_, err = verify(t, out, filepath.Join(out, "SHA256SUMS"))
	require.ErrorContains(t, err, "not by this key, or not of this content")
}

// assertRegistrations checks that the registration of the binary that was released names image and chart by digest, and that with the chart inside only the image.
func assertRegistrations(t *testing.T, out, repository, images, charts string) {
	t.Helper()
	_, imageDigest, _ := strings.Cut(strings.TrimSpace(images), "@")
	_, after, found := strings.Cut(charts, repository+"/charts/network-controller:1.2.3@")
	require.True(t, found, charts)
	chartDigest, _, _ := strings.Cut(after, "\n")
	pulled := readFile(t, out, "registrations", "network", "oci.yaml")
	assert.Contains(t, pulled, "digest: "+imageDigest+"\n")
	assert.Contains(t, pulled, "ociRepository:\n    digest: "+chartDigest+"\n    repository: "+repository+"/charts/network-controller\n")
	inside := readFile(t, out, "registrations", "network", "rawchart.yaml")
	assert.Contains(t, inside, "digest: "+imageDigest+"\n")
	assert.Contains(t, inside, "rawChart: ")
	assert.NotContains(t, inside, chartDigest)
}

// assertPacked checks that the archive has the registrations of the folder.
func assertPacked(t *testing.T, out string) {
	t.Helper()
	unzipped, err := gzip.NewReader(strings.NewReader(readFile(t, out, "registrations.tar.gz")))
	require.NoError(t, err)
	files := 0
	for reader := tar.NewReader(unzipped); ; files++ {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		content, err := io.ReadAll(reader)
		require.NoError(t, err)
		assert.Equal(t, readFile(t, out, header.Name), string(content))
	}
	written, err := filepath.Glob(filepath.Join(out, "registrations", "*", "*.yaml"))
	require.NoError(t, err)
	assert.Len(t, written, files)
}

// assertTools checks the archives of the tool: one runs here, the other is a program for Windows.
func assertTools(t *testing.T, out string) {
	t.Helper()
	folder := t.TempDir()
	unpack := exec.CommandContext(t.Context(), "tar", "-xzf", filepath.Join(out, "trellis-tool-v1.2.3-linux-amd64.tar.gz"), "-C", folder)
	problems, err := unpack.CombinedOutput()
	require.NoError(t, err, "%s", problems)
	assert.Equal(t, "A license.\n", readFile(t, folder, "LICENSE"))
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		printed, err := exec.CommandContext(t.Context(), filepath.Join(folder, "trellis-tool")).CombinedOutput()
		require.NoError(t, err)
		assert.Equal(t, "tool\n", string(printed))
	}

	archive, err := zip.OpenReader(filepath.Join(out, "trellis-tool-v1.2.3-windows-arm64.zip"))
	require.NoError(t, err)
	defer func() { _ = archive.Close() }()
	require.Len(t, archive.File, 2)
	assert.Equal(t, "trellis-tool.exe", archive.File[0].Name)
	assert.Equal(t, "LICENSE", archive.File[1].Name)
	assert.True(t, archive.File[0].Modified.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)), "%s is the commit's", archive.File[0].Modified)
	content, err := archive.File[0].Open()
	require.NoError(t, err)
	program, err := io.ReadAll(content)
	require.NoError(t, err)
	parsed, err := pe.NewFile(bytes.NewReader(program))
	require.NoError(t, err)
	assert.EqualValues(t, pe.IMAGE_FILE_MACHINE_ARM64, parsed.Machine)

	for _, platform := range []string{"linux-amd64", "windows-arm64"} {
		assert.Contains(t, readFile(t, out, "trellis-tool-v1.2.3-"+platform+".cdx.json"), `"name": "trellis-tool"`)
	}
	assert.Contains(t, readFile(t, out, "SHA256SUMS"), "  trellis-tool-v1.2.3-windows-arm64.zip\n")
	assert.NoFileExists(t, filepath.Join(out, "trellis-tool.tar"), "there is no image of a tool")
}

// archiveOf is the file of a chart, given "<repository>/<chart>:<version>@<digest>".
func archiveOf(t *testing.T, out, line string) string {
	t.Helper()
	tagged, _, _ := strings.Cut(line[strings.LastIndex(line, "/")+1:], "@")
	return readFile(t, out, strings.ReplaceAll(tagged, ":", "-")+".tgz")
}

// pullChart pulls a chart by its digest.
func pullChart(t *testing.T, line string) string {
	t.Helper()
	tagged, digest, _ := strings.Cut(line, "@")
	reference, err := name.NewDigest(tagged[:strings.LastIndex(tagged, ":")] + "@" + digest)
	require.NoError(t, err)
	chart, err := remote.Image(reference)
	require.NoError(t, err)
	layers, err := chart.Layers()
	require.NoError(t, err)
	require.Len(t, layers, 1)
	content, err := layers[0].Compressed()
	require.NoError(t, err)
	raw, err := io.ReadAll(content)
	require.NoError(t, err)
	return string(raw)
}

func TestCharts(t *testing.T) {
	source, out, repository := newCheckout(t), filepath.Join(t.TempDir(), "out"), startRegistry(t)+"/team"
	var output, problems bytes.Buffer
	require.Zero(t, program().Do(t.Context(), []string{"charts", "--version", "v1.2.3", "--push", repository, "--out", out, "--source", source}, &output, &problems),
		"%s%s", &output, &problems)
	lines := strings.Fields(readFile(t, out, "chart-digests.txt"))
	require.Len(t, lines, 9)
	for _, line := range lines {
		assert.Equal(t, archiveOf(t, out, line), pullChart(t, line))
	}
	assert.NoFileExists(t, filepath.Join(out, "chart-digests.txt.sig"))
}

func TestRun_Errors(t *testing.T) {
	source, key := newCheckout(t), writeKey(t)
	used := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(used, "old.tgz"), nil, 0o600))
	tagged := newCheckout(t)
	inGit(t, tagged, "tag", "v1.2.3")
	commitAll(t, tagged)
	inGit(t, tagged, "commit", "--quiet", "--allow-empty", "--message", "newer")
	dirty := newCheckout(t)
	require.NoError(t, os.WriteFile(filepath.Join(dirty, "forgotten.txt"), nil, 0o600))
	for sentence, tt := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no command":                    {[]string{}, cli.ExitUsage, "the commands are publish and charts"},
		"a version without v":           {[]string{"publish", "--version", "1.2.3"}, cli.ExitUsage, `--version "1.2.3" is no semantic version such as v1.2.3`},
		"half a version":                {[]string{"publish", "--version", "v1.2"}, cli.ExitUsage, `--version "v1.2" is no semantic version`},
		"a version that is no tag":      {[]string{"publish", "--version", "v1.2.3+x"}, cli.ExitUsage, `--version "v1.2.3+x" is no semantic version`},
		"no version":                    {[]string{"publish", "--version", ""}, cli.ExitUsage, "--version is missing"},
		"no repository":                 {[]string{"publish", "--push", ""}, cli.ExitUsage, "--push is missing: give the repository to push to"},
		"no folder":                     {[]string{"publish", "--out", ""}, cli.ExitUsage, "--out is missing"},
		"a platform of no release":      {[]string{"publish", "--tool-platform", "plan9/amd64"}, cli.ExitUsage, `--tool-platform "plan9/amd64" is none of linux/amd64, linux/arm64, darwin/amd64`},
		"no key":                        {[]string{"publish", "--sign-key", ""}, cli.ExitUsage, "--sign-key is missing: a release is signed; make a key with openssl"},
		"a key that is not there":       {[]string{"publish", "--sign-key", filepath.Join(used, "none")}, cli.ExitFailed, "--sign-key: open "},
		"a file that is no key":         {[]string{"publish", "--sign-key", filepath.Join(used, "old.tgz")}, cli.ExitFailed, "the file holds no private key in PEM"},
		"a repository without a host":   {[]string{"publish", "--push", "team"}, cli.ExitFailed, "--push, makes no name for an image"},
		"a folder with files":           {[]string{"publish", "--out", used}, cli.ExitFailed, "--out " + used + " is not empty: it has old.tgz; remove the folder"},
		"no section of the version":     {[]string{"publish", "--version", "v1.3.0"}, cli.ExitFailed, `CHANGELOG.md has no section "## v1.3.0" with notes: rename Unreleased to it`},
		"changes that are in no commit": {[]string{"publish", "--source", dirty}, cli.ExitFailed, "has 1 changes that are in no commit; commit or remove them, or give --snapshot for a trial:\n  ?? forgotten.txt"},
		"a tag of another commit":       {[]string{"publish", "--source", tagged}, cli.ExitFailed, "the tag v1.2.3 is not of the commit that is checked out"},
		"a folder that is no checkout":  {[]string{"publish", "--source", t.TempDir()}, cli.ExitFailed, "git rev-parse in --source"},
	} {
		t.Run(sentence, func(t *testing.T) {
			// Flags that are given twice count the last time.
			args := tt.args
			if len(args) > 0 {
				good := []string{args[0], "--version", "v1.2.3", "--push", "127.0.0.1:1/team", "--sign-key", key, "--out", filepath.Join(t.TempDir(), "out"), "--source", source}
				args = slices.Concat(good, args[1:])
			}
			var problems bytes.Buffer
			assert.Equal(t, tt.code, program().Do(t.Context(), args, io.Discard, &problems))
			assert.Contains(t, problems.String(), tt.want)
		})
	}
}

func TestHelp_AllFlags(t *testing.T) {
	var out, problems bytes.Buffer
	assert.Zero(t, program().Do(t.Context(), []string{"publish", "--help"}, &out, &problems))
	assert.Empty(t, problems.String())
	for _, flag := range []string{"version", "push", "sign-key", "out", "source", "platform", "tool-platform", "binary", "snapshot", "help"} {
		assert.Contains(t, out.String(), "\n  --"+flag+" ")
	}
}

func TestSectionOf(t *testing.T) {
	for heading, want := range map[string]string{
		"## v1.2.3": "notes", "## 1.2.3": "notes", "## [1.2.3] - 2026-01-02": "notes", "## v1.2.3, 2026-01-02": "notes",
		"## v1.2.30": "", "## v1.2.3-rc.1": "", "### v1.2.3": "", "## v11.2.3": "",
	} {
		assert.Equal(t, want, sectionOf("# Changes\n\n"+heading+"\n\nnotes\n\n## v1.0.0\n\nolder\n", "v1.2.3"), heading)
	}
}
