package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/charts"
	"github.com/trellis-garden/trellis/charts/registration"
)

const (
	defaultVersion         = "v0.0.0-dev"
	defaultChartRepository = "ghcr.io/trellis-garden/trellis/charts"
	defaultOut             = "registrations"
)

const generateHelp = `Usage: registrations generate [flags]

Writes each registration of the catalogue in five forms; an admin applies one of them:

  rawchart.yaml   core.gardener.cloud/v1, with the chart inside         } to the virtual garden,
  oci.yaml        core.gardener.cloud/v1, the chart from a registry     } with its ControllerRegistration
  v1beta1.yaml    core.gardener.cloud/v1beta1, type helm, chart inside  }
  operator.yaml   operator.gardener.cloud/v1alpha1 Extension, the chart from a registry: to the garden runtime cluster
  trellis.yaml    core.gardener.cloud/v1beta1, type trellis, chart inside: to the virtual garden, for Trellis' own operator

That operator has the first four for seeds, and operator.yaml under another name for the garden. Admission, which runs in the
garden, has operator.yaml alone. What an installation would run is rendered first and held against what is registered. The same input gives the same bytes.

  --out DIR                     folder to write to (default ` + defaultOut + `); what an earlier run wrote there and this one does
                                not is removed
  --charts DIR                  folder to write the charts to as well, for helm push and helm install: <chart>-<version>.tgz
  --version V                   version of the binaries: that of the charts, and tag of the images (default ` + defaultVersion + `)
  --chart-repository REPO       where charts are, without their names (default ` + defaultChartRepository + `)
  --chart-digest CHART=DIGEST   take a chart by digest instead of the version, e.g. worker-controller=sha256:...; repeatable
  --chart-digests FILE          chart-digests.txt of a release: the catalogue's charts by digest; others on the list are passed over. --chart-digest is
                                over it
  --image-repository REPO       where images are, without their names (default: what the charts say)
  --image-digest BINARY=DIGEST  take an image by digest instead of the version, e.g. network-controller=sha256:...; repeatable
  --image-digests FILE          digests.txt of "make images": the catalogue's images by digest, beside the tag; others on the list are passed over.
                                --image-digest is over it
  --values FILE                 YAML that is merged into the values of all registrations; admission and the operator, which have others, get
                                none of it
  --values-file NAME=FILE       the same for one registration, for admission or for the operator, e.g. network=calico.yaml;
                                repeatable; over --values
  --config FILE                 YAML that is merged into the providerConfig of all trellis.yaml: rollout, valuesOverlays, uninstall,
                                historyLimit
  --config-file NAME=FILE       the same for one registration; repeatable; over --config
  --catalogue FILE              another list of registrations (default: charts/catalogue.yaml, as it was when this was built)
  --help                        print this page

Exit codes: 0 done, 1 failed or refused, 2 not understood.
`

// generateFlags are what the command line says.
type generateFlags struct {
	options                                registration.Options
	out, charts, catalogue, values, config string
	imageDigests, chartDigests             string
	valuesFiles, configFiles               map[string]string
}

func generate(args []string, out io.Writer) error {
	f := generateFlags{valuesFiles: map[string]string{}, configFiles: map[string]string{}}
	f.options.ChartDigests, f.options.ImageDigests = map[string]string{}, map[string]string{}
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	flags.StringVar(&f.out, "out", defaultOut, "")
	flags.StringVar(&f.charts, "charts", "", "")
	flags.StringVar(&f.options.Version, "version", defaultVersion, "")
	flags.StringVar(&f.options.ChartRepository, "chart-repository", defaultChartRepository, "")
	flags.StringVar(&f.options.ImageRepository, "image-repository", "", "")
	flags.StringVar(&f.values, "values", "", "")
	flags.StringVar(&f.config, "config", "", "")
	flags.StringVar(&f.catalogue, "catalogue", "", "")
	flags.Func("chart-digest", "", pair(f.options.ChartDigests))
	flags.Func("image-digest", "", pair(f.options.ImageDigests))
	flags.StringVar(&f.imageDigests, "image-digests", "", "")
	flags.StringVar(&f.chartDigests, "chart-digests", "", "")
	flags.Func("values-file", "", pair(f.valuesFiles))
	flags.Func("config-file", "", pair(f.configFiles))
	if err := parse(flags, args, generateHelp, out); err != nil {
		return err
	}
	catalogue, err := f.read()
	if err != nil {
		return err
	}
	if err := f.readDigestLists(catalogue); err != nil {
		return err
	}
	files, err := registration.Generate(catalogue, f.options)
	if err != nil {
		return fmt.Errorf("nothing is written:\n%w", err)
	}
	if err := registration.Write(f.out, files); err != nil {
		return err
	}
	if err := f.writeCharts(catalogue); err != nil {
		return err
	}
	f.printSummary(out, catalogue)
	return nil
}

// digestList is a list of images or charts with their digests, of which a catalogue may have few: "make images" and a release list all that there are.
type digestList struct {
	flag, file string
	// known are those of the catalogue, version what they are to have.
	known   []string
	version string
	// digests get what the flags have not said.
	digests map[string]string
}

func (f *generateFlags) readDigestLists(catalogue registration.Catalogue) error {
	o := f.options
	for _, list := range []digestList{
		{"--image-digests", f.imageDigests, catalogue.Binaries(), o.Version, o.ImageDigests},
		{"--chart-digests", f.chartDigests, catalogue.ChartNames(), charts.Tag(o.Version), o.ChartDigests},
	} {
		if err := list.read(); err != nil {
			return err
		}
	}
	return nil
}

// read takes the digests from lines "REPOSITORY/NAME:VERSION@sha256:...".
func (l digestList) read() error {
	if l.file == "" {
		return nil
	}
	content, err := os.ReadFile(l.file)
	if err != nil {
		return fmt.Errorf("%s: %w", l.flag, err)
	}
	what := strings.TrimSuffix(strings.TrimPrefix(l.flag, "--"), "-digests")
	found := false
	for line := range strings.Lines(string(content)) {
		tagged, digest, hasDigest := strings.Cut(strings.TrimSpace(line), "@")
		name, version, hasVersion := strings.Cut(tagged[strings.LastIndex(tagged, "/")+1:], ":")
		switch {
		case !hasDigest || !hasVersion:
			return fmt.Errorf("%s %s: %q is no %s with version and digest", l.flag, l.file, strings.TrimSpace(line), what)
		case !slices.Contains(l.known, name):
			continue
		case version != l.version:
			return fmt.Errorf("%s %s: %s has version %s, and the registrations are to have %s", l.flag, l.file, name, version, l.version)
		case l.digests[name] == "":
			l.digests[name] = digest
		}
		found = true
	}
	if !found {
		return fmt.Errorf("%s %s: it lists no %s of the catalogue; those are %s", l.flag, l.file, what, strings.Join(l.known, ", "))
	}
	return nil
}

// printSummary tells what there is now.
func (f *generateFlags) printSummary(out io.Writer, catalogue registration.Catalogue) {
	for _, e := range catalogue.Registrations {
		fmt.Fprintf(out, "%s/%s: %s of type %s by %s %s\n", f.out, e.Name, e.Kind, strings.Join(e.Types, ", "), e.Chart, f.options.Version)
	}
	if a := catalogue.Admission; a != nil {
		fmt.Fprintf(out, "%s/%s: admission of %s %s\n", f.out, a.Name, strings.Join(a.Types, ", "), f.options.Version)
	}
	if i := catalogue.Installer; i != nil {
		fmt.Fprintf(out, "%s/%s: installer of type %s %s\n", f.out, i.Name, strings.Join(i.Types, ", "), f.options.Version)
	}
}

func (f *generateFlags) writeCharts(catalogue registration.Catalogue) error {
	if f.charts == "" {
		return nil
	}
	archives, err := registration.Charts(catalogue, f.options)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.charts, 0o755); err != nil { //nolint:gosec // people read it
		return fmt.Errorf("making a folder for charts: %w", err)
	}
	for _, archive := range archives {
		if err := os.WriteFile(filepath.Join(f.charts, archive.Path), archive.Content, 0o644); err != nil { //nolint:gosec // people read it
			return fmt.Errorf("writing a chart: %w", err)
		}
	}
	return nil
}

// read returns the catalogue, and puts the values of files into the options.
func (f *generateFlags) read() (registration.Catalogue, error) {
	list, name := charts.Catalogue(), "charts/catalogue.yaml"
	if f.catalogue != "" {
		var err error
		if list, err = os.ReadFile(f.catalogue); err != nil {
			return registration.Catalogue{}, fmt.Errorf("reading the catalogue: %w", err)
		}
		name = f.catalogue
	}
	catalogue, err := registration.Read(list)
	if err != nil {
		return registration.Catalogue{}, fmt.Errorf("nothing is written, since this is wrong in %s:\n%w", name, err)
	}
	if f.options.Values, f.options.ValuesOf, err = readAll(f.values, f.valuesFiles); err != nil {
		return registration.Catalogue{}, fmt.Errorf("reading values: %w", err)
	}
	if f.options.Config, f.options.ConfigOf, err = readAll(f.config, f.configFiles); err != nil {
		return registration.Catalogue{}, fmt.Errorf("reading a configuration: %w", err)
	}
	return catalogue, nil
}

// readAll reads what is for all, if there is such a file, and what is for some, by name.
func readAll(file string, files map[string]string) (registration.Values, map[string]registration.Values, error) {
	var all registration.Values
	some := map[string]registration.Values{}
	if file != "" {
		var err error
		if all, err = readMapping(file); err != nil {
			return nil, nil, err
		}
	}
	for name, file := range files {
		var err error
		if some[name], err = readMapping(file); err != nil {
			return nil, nil, err
		}
	}
	return all, some, nil
}

func readMapping(file string) (registration.Values, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	mapping := registration.Values{}
	if err := yaml.UnmarshalStrict(content, &mapping); err != nil {
		return nil, fmt.Errorf("%s must be a mapping in YAML: %w", file, err)
	}
	return mapping, nil
}

// pair collects NAME=VALUE, each name once.
func pair(into map[string]string) func(string) error {
	return func(text string) error {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" || value == "" {
			return fmt.Errorf("NAME=VALUE is wanted")
		}
		if _, twice := into[name]; twice {
			return fmt.Errorf("%s is given twice", name)
		}
		into[name] = value
		return nil
	}
}
