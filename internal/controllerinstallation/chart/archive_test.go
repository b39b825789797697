package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
)

func TestUnpack_Invalid(t *testing.T) {
	good := pack(t, fullChart())
	wrongSum := bytes.Clone(good)
	wrongSum[len(wrongSum)-6] ^= 0xff
	var text, plain bytes.Buffer
	zip := gzip.NewWriter(&text)
	_, err := zip.Write([]byte(strings.Repeat("no archive ", 100)))
	require.NoError(t, err)
	require.NoError(t, zip.Close())
	archive := tar.NewWriter(&plain)
	require.NoError(t, archive.WriteHeader(&tar.Header{Name: "example/Chart.yaml", Mode: 0o644}))
	require.NoError(t, archive.Close())

	for name, test := range map[string]struct {
		content []byte
		message string
	}{
		"nothing":                           {nil, "it is empty"},
		"one byte":                          {[]byte("x"), "its end is missing"},
		"YAML":                              {[]byte("apiVersion: v1\nkind: ConfigMap\n"), "it is not gzipped"},
		"a tar archive that is not gzipped": {plain.Bytes(), "it is not gzipped"},
		"a gzipped text":                    {text.Bytes(), "it is gzipped, but no tar archive"},
		"half an archive":                   {good[:len(good)/2], "its end is missing"},
		"an archive without its checksum":   {good[:len(good)-8], "its end is missing"},
		"an archive with a wrong checksum":  {wrongSum, "it is damaged"},
		"a chart that lies at the top": {
			gzipped(t, func(archive *tar.Writer) {
				require.NoError(t, archive.WriteHeader(&tar.Header{Name: "Chart.yaml", Mode: 0o644}))
			}), `chart illegally contains content outside the base directory: "Chart.yaml"`,
		},
		"a path that leads out of the chart": {pack(t, map[string]string{"../../etc/passwd": "x"}), "chart illegally references parent directory"},
		"a file that is too large": {
			pack(t, map[string]string{"large": strings.Repeat("x", 6<<20)}), `decompressed chart file "example/large" is larger than the maximum file size 5242880`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(test.content)
			assertProblem(t, err, problem.ChartInformationInvalid, `the chart is no archive as "helm package" writes it: `+test.message)
		})
	}
}

func TestUnpack_Limits(t *testing.T) {
	zeros := make([]byte, 5<<20)
	subchart := string(gzipped(t, func(archive *tar.Writer) {
		for _, file := range []string{"sub/a", "sub/b"} {
			require.NoError(t, archive.WriteHeader(&tar.Header{Name: file, Mode: 0o644, Size: int64(len(zeros))}))
			_, err := archive.Write(zeros)
			require.NoError(t, err)
		}
	}))
	for name, content := range map[string][]byte{
		"many small archives in one, each of which Helm would take": pack(t, map[string]string{
			"charts/a.tgz": subchart, "charts/b.tgz": subchart, `charts\c.tgz`: subchart, "charts/d.tgz/.": subchart,
		}),
		"very many empty files": gzipped(t, func(archive *tar.Writer) {
			for i := range 140_000 {
				require.NoError(t, archive.WriteHeader(&tar.Header{Name: fmt.Sprintf("example/%d", i), Mode: 0o644}))
			}
		}),
		"files full of holes": gzippedBytes(t, bytes.Repeat(sparse("example/hole", 5<<20), 14)),
	} {
		t.Run(name, func(t *testing.T) {
			assert.Less(t, len(content), 2<<20, "the archive itself is small")
			_, err := Load(content)
			assertProblem(t, err, problem.ChartInformationInvalid,
				`the chart is no archive as "helm package" writes it: it unpacks to more than 32 MiB`)
		})
	}

	elements := "a:\n" + strings.Repeat("-\n", 120_000)
	for name, content := range map[string][]byte{
		"one file with very many elements":   pack(t, map[string]string{"values.yaml": elements}),
		"many in one line":                   pack(t, map[string]string{"values.yaml": "a: [" + strings.Repeat("[],", 120_000) + "]"}),
		"by another way of writing the name": pack(t, map[string]string{`charts\sub\.\values.yaml`: elements}),
		"in subcharts together":              pack(t, map[string]string{"charts/a/values.yaml": elements[:150_000], "charts/b/values.yaml": elements[:150_000]}),
		"in an archive of a subchart":        pack(t, map[string]string{"charts/a.tgz": string(pack(t, map[string]string{"values.yaml": elements}))}),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(content)
			assertProblem(t, err, problem.ChartInformationInvalid,
				`the chart is no archive as "helm package" writes it: its values.yaml, Chart.yaml and the like have more than 200000 lines and elements`)
		})
	}

	nested := string(pack(t, nil))
	for range maxNesting {
		nested = string(pack(t, map[string]string{"charts/example.tgz": nested}))
	}
	_, err := Load([]byte(nested))
	require.NoError(t, err)
	_, err = Load(pack(t, map[string]string{"charts/example.tgz": nested}))
	assertProblem(t, err, problem.ChartInformationInvalid,
		`the chart is no archive as "helm package" writes it: archives lie more than 5 deep in each other`)
}

func TestUnpack_SameAsHelm(t *testing.T) {
	for name, content := range map[string][]byte{
		"files up to Helm's limit":               pack(t, map[string]string{"large": strings.Repeat("x", 5<<20)}),
		"a chart below a dot":                    pack(t, map[string]string{"./templates/a.txt": "a"}),
		"subcharts in archives":                  pack(t, map[string]string{"charts/example-0.1.0.tgz": string(pack(t, nil))}),
		"zeros after the end, as some tools add": append(pack(t, nil), make([]byte, 512)...),
		"an archive that is a file like others":  pack(t, map[string]string{"dashboards.tgz": "not even gzipped"}),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(content)
			assert.NoError(t, err)
		})
	}
}

func gzippedBytes(t *testing.T, raw []byte) []byte {
	t.Helper()
	var content bytes.Buffer
	zip := gzip.NewWriter(&content)
	_, err := zip.Write(append(raw, make([]byte, 1024)...))
	require.NoError(t, err)
	require.NoError(t, zip.Close())
	return content.Bytes()
}

// sparse returns an entry of GNU tar that claims size bytes and holds none, which archive/tar reads but does not write.
func sparse(name string, size int) []byte {
	block := make([]byte, 512)
	copy(block, name)
	copy(block[100:], "0000644\x00")
	copy(block[124:], "00000000000\x00") // what is in the stream
	copy(block[148:], "        ")
	block[156] = tar.TypeGNUSparse
	copy(block[257:], "ustar  \x00")
	copy(block[483:], fmt.Sprintf("%011o\x00", size)) // what there is with the holes
	sum := 0
	for _, b := range block {
		sum += int(b)
	}
	copy(block[148:], fmt.Sprintf("%06o\x00 ", sum))
	return block
}
