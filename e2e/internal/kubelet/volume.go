package kubelet

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// File is a file of a volume.
type File struct {
	Content []byte
	Mode    fs.FileMode
}

// defaultMode is that of files of volumes.
const defaultMode = 0o644

// Files returns the files of a volume by their paths in it. Volumes that belong to a node, such as a folder of it, are not supported.
func (p *Pod) Files(ctx context.Context, volume *corev1.Volume) (map[string]File, error) {
	f := files{pod: p, files: map[string]File{}, mode: defaultMode}
	var err error
	switch {
	case volume.EmptyDir != nil:
	case volume.Secret != nil:
		v := volume.Secret
		f.setMode(v.DefaultMode)
		err = f.add(ctx, source{secret: v.SecretName, optional: isTrue(v.Optional)}, v.Items)
	case volume.ConfigMap != nil:
		v := volume.ConfigMap
		f.setMode(v.DefaultMode)
		err = f.add(ctx, source{configMap: v.Name, optional: isTrue(v.Optional)}, v.Items)
	case volume.DownwardAPI != nil:
		f.setMode(volume.DownwardAPI.DefaultMode)
		err = f.addFields(volume.DownwardAPI.Items)
	case volume.Projected != nil:
		f.setMode(volume.Projected.DefaultMode)
		for i := range volume.Projected.Sources {
			if err = f.addProjection(ctx, &volume.Projected.Sources[i]); err != nil {
				break
			}
		}
	default:
		err = fmt.Errorf("its kind is %w", ErrUnsupported)
	}
	if err != nil {
		return nil, fmt.Errorf("reading volume %s: %w", volume.Name, err)
	}
	return f.files, nil
}

// files are those of one volume.
type files struct {
	pod   *Pod
	mode  fs.FileMode
	files map[string]File
}

func (f *files) setMode(mode *int32) {
	if mode != nil {
		f.mode = modeOf(*mode)
	}
}

// modeOf returns a file mode of the API, of which only permissions are valid.
func modeOf(mode int32) fs.FileMode { return fs.FileMode(uint32(mode)) & fs.ModePerm }

func (f *files) set(name string, content []byte, mode *int32) {
	file := File{Content: content, Mode: f.mode}
	if mode != nil {
		file.Mode = modeOf(*mode)
	}
	f.files[path.Clean(name)] = file
}

func (f *files) add(ctx context.Context, from source, items []corev1.KeyToPath) error {
	data, err := from.read(ctx, f.pod)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		for key, content := range data {
			f.set(key, content, nil)
		}
	}
	for _, item := range items {
		content, found := data[item.Key]
		if !found && !from.optional {
			return fmt.Errorf("%s has no key %s", from, item.Key)
		}
		if found {
			f.set(item.Path, content, item.Mode)
		}
	}
	return nil
}

func (f *files) addFields(items []corev1.DownwardAPIVolumeFile) error {
	for _, item := range items {
		var value string
		var err error
		switch {
		case item.FieldRef != nil:
			value, err = f.pod.field(item.FieldRef.FieldPath)
		case item.ResourceFieldRef != nil:
			var container *corev1.Container
			if container, err = f.pod.containerNamed(item.ResourceFieldRef.ContainerName); err == nil {
				value, err = f.pod.resource(container, item.ResourceFieldRef)
			}
		}
		if err != nil {
			return err
		}
		f.set(item.Path, []byte(value), item.Mode)
	}
	return nil
}

func (f *files) addProjection(ctx context.Context, projection *corev1.VolumeProjection) error {
	switch {
	case projection.Secret != nil:
		v := projection.Secret
		return f.add(ctx, source{secret: v.Name, optional: isTrue(v.Optional)}, v.Items)
	case projection.ConfigMap != nil:
		v := projection.ConfigMap
		return f.add(ctx, source{configMap: v.Name, optional: isTrue(v.Optional)}, v.Items)
	case projection.DownwardAPI != nil:
		return f.addFields(projection.DownwardAPI.Items)
	case projection.ServiceAccountToken != nil && f.pod.Token != nil:
		token, err := f.pod.Token(ctx, projection.ServiceAccountToken)
		if err != nil {
			return fmt.Errorf("requesting a token: %w", err)
		}
		f.set(projection.ServiceAccountToken.Path, token, nil)
		return nil
	default:
		return fmt.Errorf("a source is %w", ErrUnsupported)
	}
}

// source is a Secret or ConfigMap.
type source struct {
	secret, configMap string
	optional          bool
}

func (s source) String() string {
	if s.secret != "" {
		return "Secret " + s.secret
	}
	return "ConfigMap " + s.configMap
}

// read returns the content by key; nothing if the object is optional and does not exist.
func (s source) read(ctx context.Context, pod *Pod) (map[string][]byte, error) {
	data := map[string][]byte{}
	var err error
	if s.secret != "" {
		secret := &corev1.Secret{}
		err = pod.Reader.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: s.secret}, secret)
		data = secret.Data
	} else {
		configMap := &corev1.ConfigMap{}
		err = pod.Reader.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: s.configMap}, configMap)
		for key, text := range configMap.Data {
			data[key] = []byte(text)
		}
		maps.Copy(data, configMap.BinaryData)
	}
	if s.optional && apierrors.IsNotFound(err) {
		return nil, nil
	}
	return data, err
}

// readKey returns the content of a key. It may be missing if it is optional.
func (s source) readKey(ctx context.Context, pod *Pod, key string) (string, bool, error) {
	data, err := s.read(ctx, pod)
	if err != nil {
		return "", false, err
	}
	content, found := data[key]
	if !found && !s.optional {
		return "", false, fmt.Errorf("%s has no key %s", s, key)
	}
	return string(content), found, nil
}
