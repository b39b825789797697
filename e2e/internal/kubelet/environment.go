package kubelet

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Environment is the environment of a container.
type Environment struct {
	names  []string
	values map[string]string
}

// Set adds or replaces a variable.
func (e *Environment) Set(name, value string) {
	if e.values == nil {
		e.values = map[string]string{}
	}
	if _, found := e.values[name]; !found {
		e.names = append(e.names, name)
	}
	e.values[name] = value
}

// List returns the variables as name=value, in the order in which they were added.
func (e *Environment) List() []string {
	list := make([]string, 0, len(e.names))
	for _, name := range e.names {
		list = append(list, name+"="+e.values[name])
	}
	return list
}

// Expand replaces references to variables in texts.
func (e *Environment) Expand(texts ...string) []string { return expandAll(texts, e.values) }

// Add adds the variables of a container. A variable may refer to earlier ones.
func (e *Environment) Add(ctx context.Context, pod *Pod, container *corev1.Container) error {
	for _, from := range container.EnvFrom {
		if err := e.addAll(ctx, pod, from); err != nil {
			return err
		}
	}
	for _, variable := range container.Env {
		value, found, err := e.value(ctx, pod, container, variable)
		if err != nil {
			return fmt.Errorf("reading the variable %s of container %s: %w", variable.Name, container.Name, err)
		}
		if found {
			e.Set(variable.Name, value)
		}
	}
	return nil
}

// addAll adds all keys of a Secret or ConfigMap.
func (e *Environment) addAll(ctx context.Context, pod *Pod, from corev1.EnvFromSource) error {
	var s source
	switch {
	case from.SecretRef != nil:
		s = source{secret: from.SecretRef.Name, optional: isTrue(from.SecretRef.Optional)}
	case from.ConfigMapRef != nil:
		s = source{configMap: from.ConfigMapRef.Name, optional: isTrue(from.ConfigMapRef.Optional)}
	default:
		return fmt.Errorf("a source of variables is %w", ErrUnsupported)
	}
	data, err := s.read(ctx, pod)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		e.Set(from.Prefix+key, string(data[key]))
	}
	return nil
}

// value returns the value of a variable. An optional one may have none.
func (e *Environment) value(ctx context.Context, pod *Pod, container *corev1.Container, variable corev1.EnvVar) (string, bool, error) {
	from := variable.ValueFrom
	switch {
	case from == nil:
		return Expand(variable.Value, e.values), true, nil
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		return source{secret: ref.Name, optional: isTrue(ref.Optional)}.readKey(ctx, pod, ref.Key)
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		return source{configMap: ref.Name, optional: isTrue(ref.Optional)}.readKey(ctx, pod, ref.Key)
	case from.FieldRef != nil:
		value, err := pod.field(from.FieldRef.FieldPath)
		return value, true, err
	case from.ResourceFieldRef != nil:
		value, err := pod.resource(container, from.ResourceFieldRef)
		return value, true, err
	default:
		return "", false, fmt.Errorf("its source is %w", ErrUnsupported)
	}
}

// field returns a field of the pod, as the downward API names them.
func (p *Pod) field(path string) (string, error) {
	if p.Template {
		return "", fmt.Errorf("the field %s of a template is %w", path, ErrUnsupported)
	}
	if name, key, isEntry := strings.Cut(strings.TrimSuffix(path, "']"), "['"); isEntry {
		switch name {
		case "metadata.labels":
			return p.Labels[key], nil
		case "metadata.annotations":
			return p.Annotations[key], nil
		}
	}
	var hosts, addresses []string
	for _, ip := range p.Status.HostIPs {
		hosts = append(hosts, ip.IP)
	}
	for _, ip := range p.Status.PodIPs {
		addresses = append(addresses, ip.IP)
	}
	value, found := map[string]string{
		"metadata.name":           p.Name,
		"metadata.namespace":      p.Namespace,
		"metadata.uid":            string(p.UID),
		"metadata.labels":         formatMap(p.Labels),
		"metadata.annotations":    formatMap(p.Annotations),
		"spec.nodeName":           p.Spec.NodeName,
		"spec.serviceAccountName": p.Spec.ServiceAccountName,
		"status.hostIP":           p.Status.HostIP,
		"status.hostIPs":          strings.Join(hosts, ","),
		"status.podIP":            p.Status.PodIP,
		"status.podIPs":           strings.Join(addresses, ","),
	}[path]
	if !found {
		return "", fmt.Errorf("the field %s is %w", path, ErrUnsupported)
	}
	return value, nil
}

// formatMap has one line for each entry, as in the files of the downward API.
func formatMap(entries map[string]string) string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		lines = append(lines, fmt.Sprintf("%s=%q", key, entries[key]))
	}
	return strings.Join(lines, "\n")
}

// resource returns a request or limit of a container, in units of the divisor and rounded up.
func (p *Pod) resource(container *corev1.Container, selector *corev1.ResourceFieldSelector) (string, error) {
	kind, name, _ := strings.Cut(selector.Resource, ".")
	values := map[string]corev1.ResourceList{"limits": container.Resources.Limits, "requests": container.Resources.Requests}[kind]
	if p.Template || name == "" || kind != "limits" && kind != "requests" {
		return "", fmt.Errorf("the resource %s is %w", selector.Resource, ErrUnsupported)
	}
	value, found := values[corev1.ResourceName(name)]
	if !found && kind == "limits" {
		value = p.Allocatable[corev1.ResourceName(name)]
	}
	divisor := selector.Divisor
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	quotient := divideRoundingUp(value.MilliValue(), divisor.MilliValue())
	return fmt.Sprint(quotient), nil
}

func divideRoundingUp(value, divisor int64) int64 { return (value + divisor - 1) / divisor }

// containerNamed returns a container or init container of the pod.
func (p *Pod) containerNamed(name string) (*corev1.Container, error) {
	for _, containers := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range containers {
			if containers[i].Name == name {
				return &containers[i], nil
			}
		}
	}
	return nil, fmt.Errorf("pod %s has no container %s", p.Name, name)
}
