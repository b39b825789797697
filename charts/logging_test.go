package charts

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// The lines have the form in which the programs write them.
func TestLogging_Lines(t *testing.T) {
	klog := map[string]string{"severity": "I", "pid": "1", "source": "controller.go:862"}
	for sentence, test := range map[string]struct {
		chart, pod, container, line string
		want                        map[string]string
		written                     time.Time
	}{
		"cloud-controller-manager": {
			"controlplane-controller", "cloud-controller-manager", "openstack-cloud-controller-manager",
			`I1123 05:06:23.370495    9965 flags.go:64] FLAG: --allocate-node-cidrs="false"`,
			map[string]string{"severity": "I", "pid": "9965", "source": "flags.go:64", "log": `FLAG: --allocate-node-cidrs="false"`},
			time.Date(0, time.November, 23, 5, 6, 23, 370495000, time.UTC),
		},
		"Cinder's plugin, with brackets in the text": {
			"controlplane-controller", "csi-driver-controller", "openstack-csi-driver",
			`E0102 03:04:05.678901       1 utils.go:95] [ID:37] GRPC error: rpc error: code = Internal desc = [CreateVolume] failed`,
			map[string]string{"severity": "E", "pid": "1", "source": "utils.go:95", "log": `[ID:37] GRPC error: rpc error: code = Internal desc = [CreateVolume] failed`},
			time.Date(0, time.January, 2, 3, 4, 5, 678901000, time.UTC),
		},
		"a sidecar of Cinder's, with keys and values": {
			"controlplane-controller", "csi-driver-controller", "openstack-csi-provisioner",
			`I0102 03:04:05.678901       1 controller.go:862] "Starting provisioner controller" component="cinder.csi.openstack.org_x"`,
			with(klog, "log", `"Starting provisioner controller" component="cinder.csi.openstack.org_x"`),
			time.Date(0, time.January, 2, 3, 4, 5, 678901000, time.UTC),
		},
		"Manila's plugin": {
			"controlplane-controller", "csi-driver-manila-controller", "openstack-csi-manila-driver",
			`W0102 03:04:05.678901       1 driver.go:203] forwarding to unix:///csi-fwd/csi.sock`,
			map[string]string{"severity": "W", "pid": "1", "source": "driver.go:203", "log": `forwarding to unix:///csi-fwd/csi.sock`},
			time.Date(0, time.January, 2, 3, 4, 5, 678901000, time.UTC),
		},
		"the snapshot controller": {
			"controlplane-controller", "csi-snapshot-controller", "csi-snapshot-controller",
			`I0102 03:04:05.678901       1 controller.go:862] Version: v8.6.0`, with(klog, "log", "Version: v8.6.0"),
			time.Date(0, time.January, 2, 3, 4, 5, 678901000, time.UTC),
		},
		"what is not of klog, which stays as it is": {
			"controlplane-controller", "csi-driver-controller", "openstack-csi-resizer",
			`panic: runtime error: invalid memory address or nil pointer dereference`,
			map[string]string{"log": `panic: runtime error: invalid memory address or nil pointer dereference`},
			time.Time{},
		},
		"Felix": {
			"network-controller", "calico-node", "calico-node", `2026-01-02 03:04:05.678 [INFO][12] felix/x.go 12: text: more of it`,
			map[string]string{"severity": "INFO", "pid": "12", "source": "felix/x.go 12", "log": "text: more of it"},
			time.Date(2026, time.January, 2, 3, 4, 5, 678000000, time.UTC),
		},
		"Typha": {
			"network-controller", "calico-typha-deploy", "calico-typha",
			`2026-11-23 05:06:22.261 [WARNING][9935] daemon.go 170: Typha starting up GOMAXPROCS=2 buildDate="" gitCommit="" version=""`,
			map[string]string{"severity": "WARNING", "pid": "9935", "source": "daemon.go 170", "log": `Typha starting up GOMAXPROCS=2 buildDate="" gitCommit="" version=""`},
			time.Date(2026, time.November, 23, 5, 6, 22, 261000000, time.UTC),
		},
		"BIRD beside Felix, which stays as it is": {
			"network-controller", "calico-node", "calico-node", `bird: Reconfiguration requested by SIGHUP`,
			map[string]string{"log": `bird: Reconfiguration requested by SIGHUP`},
			time.Time{},
		},
		"gardenet's agent": {
			"network-controller", "gardenet-agent-x7k2p", "gardenet-agent",
			`{"level":"info","ts":"2026-11-23T05:09:45.702795925Z","msg":"Verified the node","node":"one"}`,
			map[string]string{"severity": "info", "log": "Verified the node", "node": "one"},
			time.Date(2026, time.November, 23, 5, 9, 45, 702795925, time.UTC),
		},
		"gardenet's service router, which logs as Kubernetes' proxier does": {
			"network-controller", "gardenet-service-router-x7k2p", "gardenet-service-router",
			`{"level":"info","ts":"2026-11-23T05:09:45.702795925Z","logger":"router","msg":"Sync failed","ipFamily":"IPv4","retryingTime":"30s"}`,
			map[string]string{"severity": "info", "source": "router", "log": "Sync failed", "ipFamily": "IPv4", "retryingTime": "30s"},
			time.Date(2026, time.November, 23, 5, 9, 45, 702795925, time.UTC),
		},
		"our machine controller": {
			"worker-controller", "machine-controller-manager", "machine-controller-manager-provider-openstack",
			`{"level":"error","ts":"2026-11-23T05:09:45.702795925Z","logger":"driver","msg":"Process failed","error":"no such file"}`,
			map[string]string{"severity": "error", "source": "driver", "log": "Process failed", "error": "no such file"},
			time.Date(2026, time.November, 23, 5, 9, 45, 702795925, time.UTC),
		},
		"upstream's machine controller": {
			"worker-controller", "machine-controller-manager", "machine-controller-manager-provider-openstack",
			`I0102 03:04:05.678901       1 controller.go:862] Creating machine`, with(klog, "log", "Creating machine"),
			time.Date(0, time.January, 2, 3, 4, 5, 678901000, time.UTC),
		},
		"our own controllers": {
			"controlplane-controller", "gardener-extension-controlplane", "gardener-extension-controlplane",
			`{"level":"info","ts":"2026-11-23T05:09:45.702Z","msg":"Reconciling","name":"one"}`,
			map[string]string{"severity": "info", "log": "Reconciling", "name": "one"},
			time.Date(2026, time.November, 23, 5, 9, 45, 702000000, time.UTC),
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			fluentBit := fluentBitOf(t, test.chart, seedValues())
			record, written := fluentBit.read(t, tagOf(test.pod, test.container), test.line)
			assert.Equal(t, test.want, record)
			assert.True(t, test.written.Equal(written), "%s is not %s", written, test.written)
		})
	}
}

// What runs in the seed is written down in golden files.
func TestLogging_EveryComponentInTheSeed(t *testing.T) {
	deployed := filepath.Join("..", "internal", "controlplane")
	fluentBit := fluentBitOf(t, "controlplane-controller", seedValues())
	for _, file := range []string{
		"openstack/testdata/ccm/1.36-overlay.yaml", "openstack/testdata/cinder/1.36-seed.yaml", "openstack/testdata/manila/1.36-seed.yaml",
		"csi/testdata/snapshotcontroller.yaml",
	} {
		deployments := deploymentsIn(t, filepath.Join(deployed, filepath.FromSlash(file)))
		require.NotEmpty(t, deployments, file)
		for _, deployment := range deployments {
			for _, container := range deployment.Spec.Template.Spec.Containers {
				assert.Len(t, fluentBit.matching(t, tagOf(deployment.Name, container.Name)), 1, "filters for container %s of %s", container.Name, deployment.Name)
			}
		}
	}
}

func TestLogging_Switches(t *testing.T) {
	for _, name := range Names() {
		fluentBit := fluentBitOf(t, name, map[string]any{"logging": map[string]any{"parser": false}})
		assert.Empty(t, fluentBit.filters, name)
		assert.Empty(t, fluentBit.parsers, name)

		usually, text := fluentBitOf(t, name, seedValues()), fluentBitOf(t, name, map[string]any{"logFormat": "text"})
		assert.Len(t, text.filters, len(usually.filters)-1, "%s: what it deploys is read whatever it writes itself", name)
		for filter := range usually.filters {
			assert.True(t, strings.HasPrefix(filter, "gardener-extension-"+releaseOf(name).Name), "%s would meet another extension's", filter)
		}
	}
}

// fluentBit does to a line what fluent-bit does by the filters and parsers of a chart.
type fluentBit struct {
	filters, parsers map[string]map[string]any // specs by name
}

func fluentBitOf(t *testing.T, chart string, values map[string]any) fluentBit {
	t.Helper()
	objects, err := Render(archiveOf(t, chart), releaseOf(chart), withTypes(chart, values))
	require.NoError(t, err)
	result := fluentBit{filters: map[string]map[string]any{}, parsers: map[string]map[string]any{}}
	for _, object := range objects {
		spec, _, err := unstructured.NestedMap(object.Object, "spec")
		require.NoError(t, err)
		switch object.GetKind() {
		case "ClusterFilter":
			result.filters[object.GetName()] = spec
		case "ClusterParser":
			result.parsers[object.GetName()] = spec
		}
	}
	return result
}

// tagOf is what fluent-bit calls the log of a container, by the path of its file.
func tagOf(pod, container string) string {
	return "kubernetes.var.log.containers." + pod + "-6d9c5b7f4-x7k2p_shoot--dev--one_" + container + "-0a1b2c3d4e5f.log"
}

// matching returns the names of the filters for a tag, in the order in which fluent-operator puts them.
func (f fluentBit) matching(t *testing.T, tag string) []string {
	t.Helper()
	var names []string
	for _, name := range slices.Sorted(maps.Keys(f.filters)) {
		pattern := strings.ReplaceAll(regexp.QuoteMeta(f.filters[name]["match"].(string)), `\*`, ".*")
		if regexp.MustCompile("^" + pattern + "$").MatchString(tag) {
			names = append(names, name)
		}
	}
	return names
}

// read returns the record that becomes of a line, and the time that was found in it.
func (f fluentBit) read(t *testing.T, tag, line string) (map[string]string, time.Time) {
	t.Helper()
	names := f.matching(t, tag)
	require.Len(t, names, 1)
	record, written := map[string]string{"log": line}, time.Time{}
	for _, item := range f.filters[names[0]]["filters"].([]any) {
		if parser, is := item.(map[string]any)["parser"].(map[string]any); is {
			require.Equal(t, "log", parser["keyName"])
			require.Equal(t, true, parser["reserveData"])
			require.Contains(t, f.parsers, parser["parser"])
			if fields, at := parsed(t, f.parsers[parser["parser"].(string)], record["log"]); fields != nil {
				delete(record, "log")
				maps.Copy(record, fields)
				written = at
			}
			continue
		}
		for _, rule := range item.(map[string]any)["modify"].(map[string]any)["rules"].([]any) {
			for from, to := range rule.(map[string]any)["rename"].(map[string]any) {
				if value, has := record[from]; has {
					delete(record, from)
					record[to.(string)] = value
				}
			}
		}
	}
	return record, written
}

// parsed returns the fields of a text, none if the parser does not understand it.
func parsed(t *testing.T, parser map[string]any, text string) (map[string]string, time.Time) {
	t.Helper()
	fields := map[string]string{}
	rules, isJSON := parser["json"].(map[string]any)
	if isJSON {
		if json.Unmarshal([]byte(text), &fields) != nil {
			return nil, time.Time{}
		}
	} else {
		rules = parser["regex"].(map[string]any)
		expression := regexp.MustCompile(rules["regex"].(string))
		groups := expression.FindStringSubmatch(text)
		if groups == nil {
			return nil, time.Time{}
		}
		for i, name := range expression.SubexpNames()[1:] {
			fields[name] = groups[i+1]
		}
	}
	layout := strings.NewReplacer("%Y", "2006", "%m", "01", "%d", "02", "%H", "15", "%M", "04", "%S.%L", "05", "%z", "Z07:00").Replace(rules["timeFormat"].(string))
	key := rules["timeKey"].(string)
	written, err := time.Parse(layout, fields[key]) // which accepts any fraction of a second
	require.NoError(t, err)
	delete(fields, key)
	return fields, written
}

func deploymentsIn(t *testing.T, file string) []*appsv1.Deployment {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	var found []*appsv1.Deployment
	for document := range strings.SplitSeq(string(content), "---\n") {
		var kind metav1.TypeMeta
		require.NoError(t, yaml.Unmarshal([]byte(document), &kind))
		if kind.Kind != "Deployment" {
			continue
		}
		var deployment appsv1.Deployment
		require.NoError(t, yaml.Unmarshal([]byte(document), &deployment))
		found = append(found, &deployment)
	}
	return found
}

func with(fields map[string]string, key, value string) map[string]string {
	all := maps.Clone(fields)
	all[key] = value
	return all
}
