// Package helmchart pushes Helm charts to an OCI registry in the form that helm push gives them, so that Helm and Gardener pull them. The same archive gives the same
// bytes, whoever pushes it and when. It must not know what is in a chart besides its Chart.yaml.
//
// Format: https://helm.sh/docs/topics/registries/#oci-artifact
package helmchart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/remote"
	"go.yaml.in/yaml/v3"

	"github.com/trellis-garden/trellis/images"
)

const (
	// ConfigMediaType is the media type of Chart.yaml as JSON, ContentMediaType that of the archive.
	ConfigMediaType  = "application/vnd.cncf.helm.config.v1+json"
	ContentMediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

const (
	chartFile = "Chart.yaml"
	// maxChartFile bounds what is read of an archive into memory.
	maxChartFile = 1 << 20
)

// Chart is a packaged chart.
type Chart struct {
	Name, Version, Description string
	// config is Chart.yaml as JSON.
	config, archive []byte
}

// Read reads the archive of a chart, as helm package makes it.
func Read(archive []byte) (Chart, error) {
	file, err := readChartFile(archive)
	if err != nil {
		return Chart{}, err
	}
	metadata := map[string]any{}
	if err := yaml.Unmarshal(file, &metadata); err != nil {
		return Chart{}, fmt.Errorf("reading %s: %w", chartFile, err)
	}
	c := Chart{archive: archive}
	for field, into := range map[string]*string{"name": &c.Name, "version": &c.Version, "description": &c.Description} {
		*into, _ = metadata[field].(string)
	}
	if c.Name == "" || c.Version == "" {
		return Chart{}, fmt.Errorf("%s has no name or no version", chartFile)
	}
	// The keys of a mapping are sorted.
	if c.config, err = json.Marshal(metadata); err != nil {
		return Chart{}, fmt.Errorf("writing %s as JSON: %w", chartFile, err)
	}
	return c, nil
}

// readChartFile returns Chart.yaml of the chart itself: charts inside of it have one, too.
func readChartFile(archive []byte) ([]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("reading the archive of a chart: %w", err)
	}
	files := tar.NewReader(unzipped)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the archive has no %s", chartFile)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the archive of a chart: %w", err)
		}
		folder, file := path.Split(path.Clean(header.Name))
		if file != chartFile || strings.Count(folder, "/") != 1 {
			continue
		}
		if header.Size > maxChartFile {
			return nil, fmt.Errorf("%s has more than %d bytes", header.Name, maxChartFile)
		}
		return io.ReadAll(files)
	}
}

// Tag is the chart's tag in a registry. A tag cannot have a "+"; Helm writes it so.
func (c Chart) Tag() string { return strings.ReplaceAll(c.Version, "+", "_") }

// Push brings a chart to <repository>/<name>:<tag>, and returns that name and the digest, "sha256:...". created is when its source was committed; it is left out
// when it is zero. Options are those of images.Push.
func (c Chart) Push(ctx context.Context, repository string, created time.Time, options ...remote.Option) (ref, digest string, err error) {
	ref = repository + "/" + c.Name + ":" + c.Tag()
	digest, err = images.PushArtifact(ctx, ref, images.Artifact{
		ConfigMediaType: ConfigMediaType, Config: c.config,
		MediaType: ContentMediaType, Content: c.archive,
		Annotations: c.annotations(created),
	}, options...)
	return ref, digest, err
}

// annotations are those that Helm adds, as far as they do not depend on who pushes.
func (c Chart) annotations(created time.Time) map[string]string {
	const prefix = "org.opencontainers.image."
	annotations := map[string]string{prefix + "title": c.Name, prefix + "version": c.Version}
	if c.Description != "" {
		annotations[prefix+"description"] = c.Description
	}
	if !created.IsZero() {
		annotations[prefix+"created"] = created.UTC().Format(time.RFC3339)
	}
	return annotations
}
