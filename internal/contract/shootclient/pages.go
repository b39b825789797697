package shootclient

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/truncate"
)

// pageSize is the number of objects in a page. A typical node has some ten kilobytes, but a user may make it a megabyte and a half.
const pageSize = 50

// EachNode calls do for every node of the shoot, a page at a time, and ends with the first error.
func EachNode(ctx context.Context, shoot client.Reader, do func(*corev1.Node) error) error {
	return eachPage(ctx, shoot, "nodes", client.ListOptions{}, func() client.ObjectList { return &corev1.NodeList{} },
		func(page client.ObjectList) error {
			nodes, _ := page.(*corev1.NodeList)
			return each(nodes.Items, do)
		})
}

// EachPod calls do for every pod of a namespace of the shoot that the options select, a page at a time, and ends with the first error.
func EachPod(ctx context.Context, shoot client.Reader, options client.ListOptions, do func(*corev1.Pod) error) error {
	return eachPage(ctx, shoot, "pods", options, func() client.ObjectList { return &corev1.PodList{} },
		func(page client.ObjectList) error {
			pods, _ := page.(*corev1.PodList)
			return each(pods.Items, do)
		})
}

// EachEvent calls do for every Event of a namespace of the shoot that the options select, a page at a time, and ends with the first error.
func EachEvent(ctx context.Context, shoot client.Reader, options client.ListOptions, do func(*corev1.Event) error) error {
	return eachPage(ctx, shoot, "events", options, func() client.ObjectList { return &corev1.EventList{} },
		func(page client.ObjectList) error {
			events, _ := page.(*corev1.EventList)
			return each(events.Items, do)
		})
}

func each[T any](items []T, do func(*T) error) error {
	for i := range items {
		if err := do(&items[i]); err != nil {
			return err
		}
	}
	return nil
}

// eachPage reads the pages of a list one after the other and holds one of them at a time. After a page that is too large, the next ones have half
// as many objects, down to one.
func eachPage(
	ctx context.Context, shoot client.Reader, what string, options client.ListOptions, empty func() client.ObjectList, do func(client.ObjectList) error,
) error {
	options.Limit = pageSize
	for {
		page := empty()
		err := shoot.List(ctx, page, &options)
		switch {
		case errors.Is(err, errTooLarge) && options.Limit > 1:
			options.Limit /= 2
			continue
		case err != nil:
			return cloud.Errorf(cloud.Unavailable, "listing the shoot's %s: %w", what, truncate.Error(err, truncate.MaxExternal))
		}
		if err := do(page); err != nil {
			return err
		}
		next := page.GetContinue()
		if next == "" {
			return nil
		}
		if next == options.Continue {
			return cloud.Errorf(cloud.Unavailable, "listing the shoot's %s: the kube-apiserver answers with the same page again", what)
		}
		options.Continue = next
	}
}
