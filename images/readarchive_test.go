package images

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type member struct {
	header  *tar.Header
	content []byte
}

func fileOf(path string, content []byte) member {
	return member{&tar.Header{Typeflag: tar.TypeReg, Name: path, Mode: 0o644, Size: int64(len(content))}, content}
}

// blobOf is a file that is what its name says.
func blobOf(content string) member {
	digest, _, _ := v1.SHA256(bytes.NewReader([]byte(content))) // memory can be read
	return fileOf(blobPath(digest), []byte(content))
}

func TestReadArchive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "apps.tar")
	bill := Document{Path: "bill.json", Content: []byte("{}")}
	digests, err := WriteArchive(path, twoApps(t), bill)
	require.NoError(t, err)
	members := membersOf(t, path)
	want := Archive{Digests: digests, Documents: map[string][]byte{bill.Path: bill.Content}}

	got, err := ReadArchive(path)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	slices.Reverse(members)
	got, err = ReadArchive(write(t, members))
	require.NoError(t, err, "the order does not count")
	assert.Equal(t, want, got)
}

func TestReadArchive_Unreferenced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "apps.tar")
	_, err := WriteArchive(path, twoApps(t))
	require.NoError(t, err)
	unrelated := blobOf("another layer")
	for sentence, test := range map[string]struct {
		change func(*testing.T, []member) []member
		want   string
	}{
		"manifest.json leads to a foreign layer": {func(t *testing.T, all []member) []member {
			changeJSON(t, all, dockerTable, func(entries *[]dockerEntry) { (*entries)[0].Layers[1] = unrelated.header.Name })
			return append(all, unrelated)
		}, "manifest.json is not what belongs to the images"},
		"manifest.json leads to a foreign configuration": {func(t *testing.T, all []member) []member {
			changeJSON(t, all, dockerTable, func(entries *[]dockerEntry) { (*entries)[0].Config = unrelated.header.Name })
			return append(all, unrelated)
		}, "manifest.json is not what belongs to the images"},
		"manifest.json gives an image the name of another one": {func(t *testing.T, all []member) []member {
			changeJSON(t, all, dockerTable, func(entries *[]dockerEntry) {
				(*entries)[0].RepoTags, (*entries)[2].RepoTags = (*entries)[2].RepoTags, (*entries)[0].RepoTags
			})
			return all
		}, "manifest.json is not what belongs to the images"},
		"manifest.json leaves out a layer": {func(t *testing.T, all []member) []member {
			changeJSON(t, all, dockerTable, func(entries *[]dockerEntry) { (*entries)[0].Layers = (*entries)[0].Layers[:1] })
			return all
		}, "manifest.json is not what belongs to the images"},
		"manifest.json is missing": {func(_ *testing.T, all []member) []member {
			return slices.DeleteFunc(all, func(m member) bool { return m.header.Name == dockerTable })
		}, "there is no manifest.json"},
		"index.json has a name twice": {func(t *testing.T, all []member) []member {
			changeJSON(t, all, indexTable, func(index *v1.IndexManifest) { index.Manifests[1].Annotations = index.Manifests[0].Annotations })
			return all
		}, "index.json: it has the name " + app + " twice"},
		"index.json has another name for skopeo": {func(t *testing.T, all []member) []member {
			changeJSON(t, all, indexTable, func(index *v1.IndexManifest) {
				index.Manifests[0].Annotations["org.opencontainers.image.ref.name"] = other
			})
			return all
		}, "index.json is not what belongs to the images"},
		"index.json has a key twice": {func(t *testing.T, all []member) []member {
			index := memberOf(t, all, indexTable)
			content := bytes.Replace(index.content, []byte(`"manifests":[`), []byte(`"manifests":[],"manifests":[`), 1)
			return replaceMember(all, fileOf(indexTable, content))
		}, "index.json is not what belongs to the images"},
		"a blob belongs to no image": {func(_ *testing.T, all []member) []member {
			return append(all, unrelated)
		}, "belongs to no image"},
		"a blob is missing": {func(t *testing.T, all []member) []member {
			layer := dockerLayer(t, all)
			return slices.DeleteFunc(all, func(m member) bool { return m.header.Name == layer })
		}, "is missing"},
		"a blob has another content": {func(t *testing.T, all []member) []member {
			return replaceMember(all, fileOf(dockerLayer(t, all), []byte("another layer")))
		}, "the content is not what the name says"},
		"a file is there twice": {func(t *testing.T, all []member) []member {
			return append(all, memberOf(t, all, dockerTable))
		}, "manifest.json: the archive has it twice"},
		"a link stands in place of a file": {func(_ *testing.T, all []member) []member {
			return replaceMember(all, member{&tar.Header{Typeflag: tar.TypeSymlink, Name: dockerTable, Linkname: "documents/bill.json"}, nil})
		}, "files with plain names only"},
		"a document has the path of a table": {func(_ *testing.T, all []member) []member {
			return append(all, fileOf("documents/../manifest.json", []byte("[]")))
		}, "files with plain names only"},
		"there is a table of older docker archives": {func(_ *testing.T, all []member) []member {
			return append(all, fileOf("repositories", []byte("{}")))
		}, "repositories: an archive of images has no such file"},
		"there is nothing": {func(*testing.T, []member) []member { return nil }, "there is no oci-layout"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := ReadArchive(write(t, test.change(t, membersOf(t, path))))
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func membersOf(t *testing.T, path string) []member {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	var all []member
	for reader := tar.NewReader(file); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		content, err := io.ReadAll(reader)
		require.NoError(t, err)
		all = append(all, member{header, content})
	}
}

func write(t *testing.T, members []member) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "changed.tar")
	file, err := os.Create(path)
	require.NoError(t, err)
	defer file.Close()
	writer := tar.NewWriter(file)
	for _, m := range members {
		require.NoError(t, writer.WriteHeader(m.header))
		_, err := writer.Write(m.content)
		require.NoError(t, err)
	}
	require.NoError(t, writer.Close())
	return path
}

func memberOf(t *testing.T, all []member, name string) member {
	t.Helper()
	i := slices.IndexFunc(all, func(m member) bool { return m.header.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return all[i]
}

// dockerLayer is the path of a layer of the first image.
func dockerLayer(t *testing.T, all []member) string {
	t.Helper()
	var entries []dockerEntry
	require.NoError(t, json.Unmarshal(memberOf(t, all, dockerTable).content, &entries))
	return entries[0].Layers[0]
}

func replaceMember(all []member, by member) []member {
	i := slices.IndexFunc(all, func(m member) bool { return m.header.Name == by.header.Name })
	all[i] = by
	return all
}

func changeJSON[T any](t *testing.T, all []member, name string, change func(*T)) {
	t.Helper()
	var content T
	require.NoError(t, json.Unmarshal(memberOf(t, all, name).content, &content))
	change(&content)
	raw, err := json.Marshal(content)
	require.NoError(t, err)
	replaceMember(all, fileOf(name, raw))
}
