package accept

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// nodeName is the node that containers find themselves on.
const nodeName = "node-1"

// environment holds a container's environment variables, as a kubelet would set them for the rendering.
type environment map[string]string

func (e environment) list() []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(e)) {
		list = append(list, name+"="+e[name])
	}
	return list
}

// with returns a copy with some variables replaced.
func (e environment) with(variables map[string]string) environment {
	replaced := maps.Clone(e)
	maps.Copy(replaced, variables)
	return replaced
}

// withPrefix lists the variables of a component, e.g. FELIX_.
func (e environment) withPrefix(prefix string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(e)), func(name string) bool { return !strings.HasPrefix(strings.ToUpper(name), prefix) })
}

// workload is a DaemonSet or a Deployment.
type workload struct {
	object    Object
	pod       corev1.PodSpec
	rendering Rendering
}

// findWorkload returns a workload, and false when the rendering has none of the name.
func findWorkload(rendering Rendering, kind, name string) (workload, bool, error) {
	object, ok := rendering.find(kind, name)
	if !ok {
		return workload{}, false, nil
	}
	found := workload{object: object, rendering: rendering}
	var err error
	switch kind {
	case "DaemonSet":
		var set appsv1.DaemonSet
		err = object.into(&set)
		found.pod = set.Spec.Template.Spec
	case "Deployment":
		var deployment appsv1.Deployment
		err = object.into(&deployment)
		found.pod = deployment.Spec.Template.Spec
	default:
		err = fmt.Errorf("no workload is a %s", kind)
	}
	return found, err == nil, err
}

func (w workload) problem(container, field, format string, arguments ...any) Problem {
	return Problem{Object: w.object.String(), Field: "container " + container + ", " + field, Message: fmt.Sprintf(format, arguments...)}
}

// container returns a container, of either sort, by its name.
func (w workload) container(name string) (corev1.Container, []Problem) {
	for _, container := range slices.Concat(w.pod.InitContainers, w.pod.Containers) {
		if container.Name == name {
			return container, nil
		}
	}
	return corev1.Container{}, []Problem{w.problem(name, "name", "there is no such container")}
}

// environment resolves all references. A container that a kubelet would not start is a problem.
func (w workload) environment(container corev1.Container) (environment, []Problem) {
	resolved, problems := environment{}, []Problem{}
	for _, source := range container.EnvFrom {
		if source.ConfigMapRef == nil || source.Prefix != "" {
			problems = append(problems, w.problem(container.Name, "envFrom", "this check reads whole ConfigMaps only"))
			continue
		}
		data, found := w.configMap(source.ConfigMapRef.Name)
		if !found && (source.ConfigMapRef.Optional == nil || !*source.ConfigMapRef.Optional) {
			problems = append(problems, w.problem(container.Name, "envFrom", "there is no ConfigMap %s", source.ConfigMapRef.Name))
		}
		maps.Copy(resolved, data)
	}
	listed := map[string]bool{}
	for _, variable := range container.Env {
		value, err := w.value(variable)
		switch {
		case err != nil:
			problems = append(problems, w.problem(container.Name, variable.Name, "%v", err))
		case listed[variable.Name]:
			problems = append(problems, w.problem(container.Name, variable.Name, "listed twice"))
		}
		listed[variable.Name], resolved[variable.Name] = true, value
	}
	return resolved, problems
}

func (w workload) configMap(name string) (map[string]string, bool) {
	object, found := w.rendering.find("ConfigMap", name)
	if !found {
		return nil, false
	}
	data, _, err := unstructured.NestedStringMap(object.Object, "data")
	return data, err == nil
}

func (w workload) value(variable corev1.EnvVar) (string, error) {
	switch from := variable.ValueFrom; {
	case from == nil && strings.Contains(variable.Value, "$("):
		return "", fmt.Errorf("this check expands no references: %q", variable.Value)
	case from == nil:
		return variable.Value, nil
	case from.ConfigMapKeyRef != nil:
		data, _ := w.configMap(from.ConfigMapKeyRef.Name)
		value, found := data[from.ConfigMapKeyRef.Key]
		if !found {
			return "", fmt.Errorf("there is no key %s in a ConfigMap %s", from.ConfigMapKeyRef.Key, from.ConfigMapKeyRef.Name)
		}
		return value, nil
	case from.FieldRef != nil:
		value, known := map[string]string{
			"metadata.name": "pod-1", "metadata.namespace": w.object.GetNamespace(),
			"spec.nodeName": nodeName, "spec.serviceAccountName": w.pod.ServiceAccountName,
			"status.hostIP": "192.0.2.10", "status.podIP": "192.0.2.10",
		}[from.FieldRef.FieldPath]
		if !known {
			return "", fmt.Errorf("this check does not know the field %s", from.FieldRef.FieldPath)
		}
		return value, nil
	default:
		return "", fmt.Errorf("this check reads values, keys of ConfigMaps and fields of the pod only")
	}
}

// inputs is what a container depends on: nil when it cannot be told.
func (w workload) inputs(spec corev1.Container, ignoredPrefix string) any {
	variables, problems := w.environment(spec)
	if len(problems) > 0 {
		return nil
	}
	maps.DeleteFunc(variables, func(name, _ string) bool { return ignoredPrefix != "" && strings.HasPrefix(name, ignoredPrefix) })
	return []any{spec.Name, variables.list(), spec.VolumeMounts, w.rendering.hashes("IPPool")}
}
