package main

import (
	"archive/tar"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/secure-systems-lab/go-securesystemslib/encrypted"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/images/internal/cli"
)

// writeKey writes a private key in one of the forms that are in use.
func writeKey(t *testing.T, form string) string {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	switch form {
	case "EC PRIVATE KEY":
		der, err = x509.MarshalECPrivateKey(private)
	case "ENCRYPTED SIGSTORE PRIVATE KEY":
		der, err = encrypted.Encrypt(der, []byte("secret"))
	}
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: form, Bytes: der}), 0o600))
	return path
}

func verify(t *testing.T, key string, subjects ...string) (code int, output string) {
	t.Helper()
	var out bytes.Buffer
	code = program().Do(t.Context(), append([]string{"verify", "--key", key}, subjects...), &out, &out)
	return code, out.String()
}

func TestSign_ArchiveAndRegistry(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	repository := strings.TrimPrefix(server.URL, "http://") + "/team"
	source := smallModule(t)
	for _, form := range []string{"EC PRIVATE KEY", "PRIVATE KEY", "ENCRYPTED SIGSTORE PRIVATE KEY"} {
		t.Run(form, func(t *testing.T) {
			t.Setenv("COSIGN_PASSWORD", "secret")
			out := t.TempDir()
			mustRun(t, append(stamp(), "--source", source, "--out", out, "--push", repository, "--sign-key", writeKey(t, form))...)
			key := filepath.Join(out, "signing-key.pub")
			code, output := verify(t, key, filepath.Join(out, "hello.tar"), repository+"/hello:v1.2.3", repository+"/bye:v1.2.3")
			assert.Zero(t, code, output)
			assert.Equal(t, 3, strings.Count(output, "signed; built from commit 0123abc as v1.2.3 for [linux/amd64 linux/arm64]"), output)
			digests, err := os.ReadFile(filepath.Join(out, "digests.txt"))
			require.NoError(t, err)
			for line := range strings.Lines(string(digests)) {
				assert.Contains(t, output, strings.TrimSpace(line))
			}
			code, output = verify(t, key, filepath.Join(out, "digests.txt"))
			assert.Zero(t, code, output)
			assert.Contains(t, output, "digests.txt\n  signed\n")
		})
	}
}

func TestSign_FormsOfCosign(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	repository := strings.TrimPrefix(server.URL, "http://") + "/team"
	out := t.TempDir()
	mustRun(t, append(stamp(), "--source", smallModule(t), "--binary", "hello", "--out", out, "--push", repository, "--sign-key", writeKey(t, "PRIVATE KEY"))...)
	image, err := name.ParseReference(repository + "/hello:v1.2.3")
	require.NoError(t, err)
	found, err := remote.Head(image)
	require.NoError(t, err)

	signature, err := remote.Image(image.Context().Tag("sha256-" + found.Digest.Hex + ".sig"))
	require.NoError(t, err)
	manifest, err := signature.Manifest()
	require.NoError(t, err)
	require.Len(t, manifest.Layers, 1)
	assert.EqualValues(t, "application/vnd.dev.cosign.simplesigning.v1+json", manifest.Layers[0].MediaType)
	assert.NotEmpty(t, manifest.Layers[0].Annotations["dev.cosignproject.cosign/signature"])

	statements, err := remote.Image(image.Context().Tag("sha256-" + found.Digest.Hex + ".att"))
	require.NoError(t, err)
	manifest, err = statements.Manifest()
	require.NoError(t, err)
	var predicates []string
	for _, layer := range manifest.Layers {
		assert.EqualValues(t, "application/vnd.dsse.envelope.v1+json", layer.MediaType)
		predicates = append(predicates, layer.Annotations["predicateType"])
	}
	assert.Equal(t, []string{"https://slsa.dev/provenance/v1", "https://cyclonedx.org/bom", "https://cyclonedx.org/bom"}, predicates)
}

func TestVerify_Tampered(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	repository := strings.TrimPrefix(server.URL, "http://") + "/team"
	source, out, unsigned := smallModule(t), t.TempDir(), t.TempDir()
	mustRun(t, append(stamp(), "--source", source, "--out", out, "--push", repository, "--sign-key", writeKey(t, "PRIVATE KEY"))...)
	mustRun(t, append(stamp(), "--source", source, "--out", unsigned, "--push", repository+"/unsigned")...)
	key := filepath.Join(out, "signing-key.pub")
	original, err := os.ReadFile(filepath.Join(out, "hello.tar"))
	require.NoError(t, err)
	other, err := os.ReadFile(filepath.Join(out, "bye.tar"))
	require.NoError(t, err)
	changed := func(change func([]byte) []byte) string {
		path := filepath.Join(t.TempDir(), "changed.tar")
		require.NoError(t, os.WriteFile(path, change(bytes.Clone(original)), 0o600))
		return path
	}
	// The signature of another image stands at the tag of this one's.
	copySignature(t, repository+"/bye:v1.2.3", repository+"/unsigned/hello:v1.2.3")

	for sentence, tt := range map[string]struct{ subject, key, want string }{
		"a byte of a layer differs": {changed(func(archive []byte) []byte {
			archive[len(archive)/2] ^= 1
			return archive
		}), key, "the archive was changed"},
		"the signature of another archive": {changed(func([]byte) []byte {
			files := extract(t, bytes.NewReader(other))
			files["documents/signature.json"] = extract(t, bytes.NewReader(original))["documents/signature.json"]
			return pack(t, files)
		}), key, "not of image sha256:"},
		"an archive without signature":      {filepath.Join(unsigned, "hello.tar"), key, "it is not signed"},
		"another key":                       {filepath.Join(out, "hello.tar"), otherKey(t), "not by this key"},
		"an image without signature":        {repository + "/unsigned/bye:v1.2.3", key, "it is not signed"},
		"an image with another's signature": {repository + "/unsigned/hello:v1.2.3", key, "not of image sha256:"},
		"an image signed by another key":    {repository + "/hello:v1.2.3", otherKey(t), "not by this key"},
		"an image that is not there":        {repository + "/none:v1", key, "looking for"},
		"a key that is none":                {filepath.Join(out, "hello.tar"), filepath.Join(out, "digests.txt"), "no public key in PEM"},
	} {
		t.Run(sentence, func(t *testing.T) {
			code, output := verify(t, tt.key, tt.subject)
			assert.Equal(t, cli.ExitFailed, code)
			assert.Contains(t, output, tt.want)
		})
	}
}

// Each of these archives holds the signature and all that was signed.
func TestVerify_ExtraFiles(t *testing.T) {
	out := t.TempDir()
	mustRun(t, append(stamp(), "--source", smallModule(t), "--out", out, "--sign-key", writeKey(t, "PRIVATE KEY"))...)
	key := filepath.Join(out, "signing-key.pub")
	original, err := os.ReadFile(filepath.Join(out, "hello.tar"))
	require.NoError(t, err)
	other, err := os.ReadFile(filepath.Join(out, "bye.tar"))
	require.NoError(t, err)
	others := extract(t, bytes.NewReader(other))
	const bill, signedBill = "documents/amd64.cdx.json", "documents/amd64.cdx.signed.json"

	for sentence, tt := range map[string]struct {
		change func(files map[string][]byte)
		want   string
	}{
		"docker loads another image": {func(files map[string][]byte) {
			for name, content := range others {
				if strings.HasPrefix(name, "blobs/") {
					files[name] = content
				}
			}
			files["manifest.json"] = bytes.ReplaceAll(others["manifest.json"], []byte("/bye:"), []byte("/hello:"))
		}, "manifest.json is not what belongs to the images"},
		"the name is of another version": {func(files map[string][]byte) {
			for _, table := range []string{"index.json", "manifest.json"} {
				files[table] = bytes.ReplaceAll(files[table], []byte("/hello:v1.2.3"), []byte("/hello:v1.2.4"))
			}
		}, "and what was signed is hello:v1.2.3"},
		"the name is of another binary": {func(files map[string][]byte) {
			for _, table := range []string{"index.json", "manifest.json"} {
				files[table] = bytes.ReplaceAll(files[table], []byte("/hello:"), []byte("/bye:"))
			}
		}, "and what was signed is hello:v1.2.3"},
		"a bill of materials is of something else": {func(files map[string][]byte) {
			files[bill] = others[bill]
		}, bill + " is not what was signed"},
		"a bill of materials was signed for another image": {func(files map[string][]byte) {
			files[bill], files[signedBill] = others[bill], others[signedBill]
		}, signedBill + ": the statement is not of image sha256:"},
		"a bill of materials is of another architecture": {func(files map[string][]byte) {
			files[bill], files[signedBill] = files["documents/arm64.cdx.json"], files["documents/arm64.cdx.signed.json"]
		}, bill + ` is the bill of "arm64"`},
		"a bill of materials is not signed": {func(files map[string][]byte) {
			delete(files, signedBill)
		}, "there is no " + signedBill},
		"a bill of materials is missing": {func(files map[string][]byte) {
			delete(files, bill)
		}, "there is no " + bill},
		"the provenance stands for a bill of materials": {func(files map[string][]byte) {
			files[signedBill] = files["documents/provenance.json"]
		}, "not a https://cyclonedx.org/bom"},
		"another document": {func(files map[string][]byte) {
			files["documents/riscv64.cdx.json"] = files[bill]
		}, "documents/riscv64.cdx.json is not signed"},
	} {
		t.Run(sentence, func(t *testing.T) {
			files := extract(t, bytes.NewReader(original))
			tt.change(files)
			path := filepath.Join(t.TempDir(), "changed.tar")
			require.NoError(t, os.WriteFile(path, pack(t, files), 0o600))
			code, output := verify(t, key, path)
			assert.Equal(t, cli.ExitFailed, code)
			assert.Contains(t, output, tt.want)
		})
	}
}

// pack is an archive of files.
func pack(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	writer := tar.NewWriter(&packed)
	for path, file := range files {
		require.NoError(t, writer.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path, Mode: 0o644, Size: int64(len(file))}))
		_, err := writer.Write(file)
		require.NoError(t, err)
	}
	require.NoError(t, writer.Close())
	return packed.Bytes()
}

func otherKey(t *testing.T) string {
	t.Helper()
	out := t.TempDir()
	mustRun(t, append(stamp(), "--source", smallModule(t), "--binary", "hello", "--platform", "linux/amd64", "--out", out, "--sign-key", writeKey(t, "PRIVATE KEY"))...)
	return filepath.Join(out, "signing-key.pub")
}

func copySignature(t *testing.T, from, to string) {
	t.Helper()
	digestOf := func(image string) (name.Reference, string) {
		parsed, err := name.ParseReference(image)
		require.NoError(t, err)
		found, err := remote.Head(parsed)
		require.NoError(t, err)
		return parsed, found.Digest.Hex
	}
	source, sourceDigest := digestOf(from)
	target, targetDigest := digestOf(to)
	signature, err := remote.Image(source.Context().Tag("sha256-" + sourceDigest + ".sig"))
	require.NoError(t, err)
	require.NoError(t, remote.Write(target.Context().Tag("sha256-"+targetDigest+".sig"), signature))
	require.NoError(t, remote.Write(target.Context().Tag("sha256-"+targetDigest+".att"), signature))
}
