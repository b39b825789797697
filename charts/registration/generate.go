package registration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/charts"
)

// Options are what differs between landscapes and releases.
type Options struct {
	// Version is that of the binaries. It is stamped into the charts, and is the tag of images without digest.
	Version string
	// ChartRepository is where charts are pulled from: a registry and a path, to which the name of the chart is added.
	ChartRepository string
	// ChartDigests are taken instead of tags, by chart: sha256:...
	ChartDigests map[string]string
	// ImageRepository is where images are pulled from, to which the name of the binary is added. Without one, the charts say it.
	ImageRepository string
	// ImageDigests are taken instead of tags, by binary: sha256:...
	ImageDigests map[string]string
	// Values are for the charts of all registrations, ValuesOf over them for single ones, by name. Those of admission and of the installer, which have
	// other ones, are their own alone.
	Values   Values
	ValuesOf map[string]Values
	// Config goes into the providerConfig of all registrations that the installer is to serve, beside chart and values, ConfigOf over it into single ones,
	// by name: how changes reach seeds, and what differs there.
	Config   Values
	ConfigOf map[string]Values
}

// File is one file of the output.
type File struct {
	// Path is relative, with slashes: <registration or admission>/<form>.yaml.
	Path    string
	Content []byte
}

// generatedMark is the first line of each file, by which Write knows what it may remove.
const generatedMark = "# Written by `make registrations` from charts/catalogue.yaml; do not edit."

// Generate writes every entry in every form, in the order of the catalogue. The same input gives the same bytes. What an
// installation would run is rendered and held against what is registered.
func Generate(c Catalogue, o Options) ([]File, error) {
	if err := errors.Join(Check(c), o.check(c)); err != nil {
		return nil, err
	}
	var files []File
	installations := make([]installation, 0, len(c.Registrations))
	for _, e := range c.Registrations {
		m, err := o.manifestInputFor(e)
		if err != nil {
			return nil, err
		}
		written, err := m.writeAll(forms(), o.Version)
		if err != nil {
			return nil, err
		}
		files = append(files, written...)
		rendered, err := m.render()
		if err != nil {
			return nil, err
		}
		installations = append(installations, rendered)
	}
	var besides []rendered
	for _, generate := range []func(Options) ([]File, []rendered, error){c.Admission.generate, c.Installer.generate} {
		more, installed, err := generate(o)
		if err != nil {
			return nil, err
		}
		files, besides = append(files, more...), append(besides, installed...)
	}
	if err := checkInstallations(installations, besides...); err != nil {
		return nil, err
	}
	return files, nil
}

// Charts returns the charts that the catalogue names, for a registry or for Helm: <chart>-<version>.tgz. They are those that Generate refers to.
func Charts(c Catalogue, o Options) ([]File, error) {
	if err := o.check(c); err != nil {
		return nil, err
	}
	var files []File
	for _, name := range c.ChartNames() {
		archive, version, err := o.archive(name)
		if err != nil {
			return nil, fmt.Errorf("chart %s: %w", name, err)
		}
		files = append(files, File{Path: name + "-" + version + ".tgz", Content: archive})
	}
	return files, nil
}

// check refuses what names something that is not in the catalogue: a typing error would otherwise pass for a setting.
func (o Options) check(c Catalogue) error {
	var problems FieldErrors
	if o.Version == "" {
		addf(&problems, "version", "is missing; give that of the binaries, such as v0.1.0")
	}
	if o.ChartRepository == "" || strings.Contains(o.ChartRepository, "://") || strings.HasSuffix(o.ChartRepository, "/") {
		addf(&problems, "chart repository", "%q cannot be one; give a registry and a path, such as registry.example.org/trellis/charts", o.ChartRepository)
	}
	if strings.Contains(o.ImageRepository, "://") || strings.HasSuffix(o.ImageRepository, "/") {
		addf(&problems, "image repository", "%q cannot be one; give a registry and a path, such as registry.example.org/trellis", o.ImageRepository)
	}
	checkDigests("chart digest", o.ChartDigests, c.ChartNames(), &problems)
	checkDigests("image digest", o.ImageDigests, c.Binaries(), &problems)
	checkKnown("values", sortedKeys(o.ValuesOf), c.names(), &problems)
	o.checkConfig(c, &problems)
	return problems.orNil()
}

func checkDigests(what string, digests map[string]string, known []string, problems *FieldErrors) {
	names := sortedKeys(digests)
	checkKnown(what, names, known, problems)
	for _, name := range names {
		if !strings.HasPrefix(digests[name], "sha256:") {
			addf(problems, what+" of "+name, "%q is none; it begins with sha256:", digests[name])
		}
	}
}

func checkKnown(what string, names, known []string, problems *FieldErrors) {
	for _, name := range names {
		if !slices.Contains(known, name) {
			addf(problems, what+" of "+name, "there is no %s; there are %s", name, strings.Join(known, ", "))
		}
	}
}

func (o Options) manifestInputFor(e Entry) (manifestInput, error) {
	archive, oci, err := o.pack(e.Chart)
	if err != nil {
		return manifestInput{}, fmt.Errorf("chart of %s: %w", e.Name, err)
	}
	values, err := e.values(o)
	if err != nil {
		return manifestInput{}, err
	}
	return manifestInput{entry: e, archive: archive, oci: oci, values: values, config: o.configOf(e.Name)}, nil
}

// pack returns a chart, and where it is pulled from.
func (o Options) pack(chart string) ([]byte, gardencorev1.OCIRepository, error) {
	oci := gardencorev1.OCIRepository{Repository: new(o.ChartRepository + "/" + chart)}
	archive, _, err := o.archive(chart)
	if err != nil {
		return nil, oci, err
	}
	if digest := o.ChartDigests[chart]; digest != "" {
		oci.Digest = &digest
	} else {
		oci.Tag = new(charts.Tag(o.Version))
	}
	return archive, oci, nil
}

// archive returns a chart and its version.
func (o Options) archive(chart string) ([]byte, string, error) {
	archive, err := charts.Archive(chart, o.Version)
	if err != nil {
		return nil, "", fmt.Errorf("packaging: %w", err)
	}
	loaded, err := loader.LoadArchive(bytes.NewReader(archive))
	if err != nil {
		return nil, "", fmt.Errorf("loading: %w", err)
	}
	return archive, loaded.Metadata.Version, nil
}

func (m manifestInput) writeAll(forms []form, version string) ([]File, error) {
	var files []File
	for _, form := range forms {
		content, err := m.write(form, version)
		if err != nil {
			return nil, err
		}
		files = append(files, File{Path: path.Join(m.entry.Name, form.file), Content: content})
	}
	return files, nil
}

func (m manifestInput) write(f form, version string) ([]byte, error) {
	objects, err := f.objects(m)
	if err != nil {
		return nil, err
	}
	content, err := document(f.about, version, objects)
	if err != nil {
		return nil, fmt.Errorf("encoding %s of %s: %w", f.file, m.entry.Name, err)
	}
	return content, nil
}

// document is a file: who wrote it, what it is for, and the objects.
func document(about []string, version string, objects []runtime.Object) ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s\n", generatedMark)
	for _, line := range append(about, "Version: "+version) {
		fmt.Fprintf(&out, "# %s\n", line)
	}
	for _, object := range objects {
		encoded, err := encode(object)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "---\n%s", encoded)
	}
	return out.Bytes(), nil
}

// encode leaves out what Go's types add and no author would write.
func encode(object runtime.Object) ([]byte, error) {
	asJSON, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(asJSON, &fields); err != nil {
		return nil, err
	}
	delete(fields, "status")
	return yaml.Marshal(fields)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
