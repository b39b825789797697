package charts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/yaml"
)

// sources are the charts as they stand in the repository.
//
//go:embed all:common all:infrastructure-controller all:controlplane-controller all:network-controller all:worker-controller all:admission all:controllerinstallation-controller
var sources embed.FS

const (
	// library is the chart that all others contain.
	library = "common"

	chartFile   = "Chart.yaml"
	schemaFile  = "values.schema.json"
	fileMode    = 0o644
	vendored    = "charts"
	templateDir = "templates"
	// dashboardDir has what package dashboards describes.
	dashboardDir = "dashboards"
)

// Archive returns the chart of that name as "helm package" would: a gzipped tar with the library chart vendored, and with version
// stamped into Chart.yaml. The same version gives the same bytes.
//
// version is what the binaries print, e.g. v0.1.0 or v0.1.0-3-g1f2e3d4. It becomes the appVersion, which is the tag of the image unless
// the values name another, and, as semantic version, the version of the chart: 0.1.0. Of a version that is none, such as the bare hash of
// a commit, the chart's is 0.0.0-build-<version>.
func Archive(name, version string) ([]byte, error) {
	if !slices.Contains(all(), name) {
		return nil, fmt.Errorf("there is no chart %q: there are %s", name, strings.Join(all(), ", "))
	}
	if version == "" {
		return nil, errors.New("packaging a chart needs the version of its binary")
	}
	own, err := chartFiles(name)
	if err != nil {
		return nil, err
	}
	if own[chartFile], err = setVersion(own[chartFile], version); err != nil {
		return nil, fmt.Errorf("stamping chart %s: %w", name, err)
	}
	shared, err := chartFiles(library)
	if err != nil {
		return nil, err
	}
	for file, content := range shared {
		own[path.Join(vendored, library, file)] = content
	}
	return packArchive(name, own)
}

// chartFiles returns what belongs to a chart, by path inside of it: nothing else in its folder gets into an archive.
func chartFiles(name string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(sources, folder(name), func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		inside := strings.TrimPrefix(file, folder(name)+"/")
		switch extension := path.Ext(inside); {
		case inside == chartFile, inside == "values.yaml", inside == schemaFile:
		case strings.HasPrefix(inside, templateDir+"/") && (extension == ".yaml" || extension == ".tpl"):
		case strings.HasPrefix(inside, dashboardDir+"/") && extension == ".json":
		default:
			return nil
		}
		files[inside], err = sources.ReadFile(file)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading chart %s: %w", name, err)
	}
	return files, nil
}

func setVersion(chart []byte, version string) ([]byte, error) {
	metadata := map[string]any{}
	if err := yaml.Unmarshal(chart, &metadata); err != nil {
		return nil, err
	}
	metadata["version"] = chartVersion(version)
	metadata["appVersion"] = version
	return yaml.Marshal(metadata)
}

// Tag is the tag of a chart in a registry, if its binary has the version. A tag cannot have a "+"; "helm push" writes it so.
func Tag(version string) string { return strings.ReplaceAll(chartVersion(version), "+", "_") }

func chartVersion(version string) string {
	bare := strings.TrimPrefix(version, "v")
	if _, err := semver.StrictNewVersion(bare); err == nil {
		return bare
	}
	identifier := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, version)
	return "0.0.0-build-" + identifier
}

// packArchive writes nothing that depends on when and where it runs: no times, no users, one order.
func packArchive(name string, files map[string][]byte) ([]byte, error) {
	var buffer bytes.Buffer
	zipper := gzip.NewWriter(&buffer)
	archive := tar.NewWriter(zipper)
	for _, file := range archiveOrder(files) {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: path.Join(name, file), Size: int64(len(files[file])), Mode: fileMode, Format: tar.FormatUSTAR,
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("packing %s of chart %s: %w", file, name, err)
		}
		if _, err := archive.Write(files[file]); err != nil {
			return nil, fmt.Errorf("packing %s of chart %s: %w", file, name, err)
		}
	}
	if err := errors.Join(archive.Close(), zipper.Close()); err != nil {
		return nil, fmt.Errorf("packing chart %s: %w", name, err)
	}
	return buffer.Bytes(), nil
}

// archiveOrder puts Chart.yaml first, as Helm does, for those that read only that.
func archiveOrder(files map[string][]byte) []string {
	order := []string{chartFile}
	for file := range files {
		if file != chartFile {
			order = append(order, file)
		}
	}
	slices.Sort(order[1:])
	return order
}
