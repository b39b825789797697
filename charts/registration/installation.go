package registration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/charts"
)

// rendered is what a chart becomes in a cluster.
type rendered struct {
	// of is what the chart is installed for, by name.
	of, chart string
	release   charts.Release
	objects   []*unstructured.Unstructured
}

// installation is what an entry becomes on a seed.
type installation struct {
	rendered
	entry Entry
}

// render installs the entry as gardenlet would, with the name that Gardener could give to a ControllerInstallation.
func (m manifestInput) render() (installation, error) {
	release := charts.Release{Name: m.entry.Name, Namespace: "extension-" + m.entry.Name + "-abcde"}
	objects, err := charts.Render(m.archive, release, json.RawMessage(m.values))
	if err != nil {
		return installation{}, fmt.Errorf("rendering the chart of %s: %w", m.entry.Name, err)
	}
	return installation{rendered{m.entry.Name, m.entry.Chart, release, objects}, m.entry}, nil
}

// checkInstallations holds what would run against what is registered, and looks for objects that two installations would fight over. A cluster may
// be garden, runtime cluster and seed at once.
func checkInstallations(all []installation, more ...rendered) error {
	var problems FieldErrors
	owner := map[string]string{}
	for _, i := range all {
		i.check(&problems)
		i.checkOwnership(owner, &problems)
	}
	for _, r := range more {
		r.checkOwnership(owner, &problems)
	}
	return problems.orNil()
}

// checkOwnership notes whose the objects are.
func (r rendered) checkOwnership(owner map[string]string, problems *FieldErrors) {
	for _, object := range r.objects {
		if object.GetNamespace() == r.release.Namespace && object.GetNamespace() != v1beta1constants.GardenNamespace {
			continue // its own, as no other has the namespace
		}
		id := object.GetKind() + " " + strings.TrimPrefix(object.GetNamespace()+"/"+object.GetName(), "/")
		if other, taken := owner[id]; taken {
			addf(problems, r.of, "its chart and that of %s both have %s; name it after the release", other, id)
		}
		owner[id] = r.of
	}
}

func (i installation) check(problems *FieldErrors) {
	args, err := i.args()
	if err != nil {
		addf(problems, i.entry.Name, "%v; give chart %s one", err, i.entry.Chart)
		return
	}
	heartbeat := i.entry.HeartbeatNamespace
	if heartbeat == "" {
		heartbeat = i.release.Namespace
	}
	for _, flag := range []struct{ name, registered string }{
		{"types", strings.Join(i.entry.Types, ",")},
		{"role", string(i.entry.Role)},
		{"leader-election-id", i.entry.LeaderElectionID},
		{"heartbeat-namespace", heartbeat},
	} {
		i.checkFlag(args, flag.name, flag.registered, problems)
	}
	i.checkService(i.entry.Name, problems)
}

func (r rendered) checkFlag(args map[string]string, name, registered string, problems *FieldErrors) {
	if got := args["--"+name]; got != registered {
		addf(problems, r.of, "chart %s runs the binary with --%s=%s, and registered is %q; make the chart take it from its values",
			r.chart, name, got, registered)
	}
}

func (r rendered) checkService(name string, problems *FieldErrors) {
	service := "gardener-extension-" + name
	if !slices.ContainsFunc(r.objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "Service" && o.GetName() == service }) {
		addf(problems, r.of, "chart %s has no Service %s, under which the binary registers its webhooks; name it so", r.chart, service)
	}
}

// args returns the flags of the only Deployment's first container.
func (r rendered) args() (map[string]string, error) {
	var deployments []*unstructured.Unstructured
	for _, object := range r.objects {
		if object.GetKind() == "Deployment" {
			deployments = append(deployments, object)
		}
	}
	if len(deployments) != 1 {
		return nil, fmt.Errorf("there are %d Deployments", len(deployments))
	}
	var deployment appsv1.Deployment
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(deployments[0].Object, &deployment); err != nil {
		return nil, fmt.Errorf("its Deployment cannot be read: %w", err)
	}
	containers := deployment.Spec.Template.Spec.Containers
	if len(containers) == 0 {
		return nil, fmt.Errorf("its Deployment has no container")
	}
	args := map[string]string{}
	for _, arg := range containers[0].Args {
		name, value, _ := strings.Cut(arg, "=")
		args[name] = value
	}
	return args, nil
}
