// Package pages reads lists from an API server page by page, so that no more than one page is in memory. It must not know what is listed.
package pages

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// pageSize is the number of objects per page, maxPages the maximum number of pages: more objects than any garden or seed has of a kind.
	pageSize = 250
	maxPages = 400
)

// Each reads all objects of a list's kind page by page, so that no more than one page is in memory, until visit returns false. The same list is
// reused for each page. More than maxPages pages are an error.
func Each[List client.ObjectList](ctx context.Context, reader client.Reader, list List, visit func(List) bool, options ...client.ListOption) error {
	token := ""
	for range maxPages {
		page, _ := list.DeepCopyObject().(List) // the same type as the list
		pageOptions := slices.Concat(options, []client.ListOption{client.Limit(pageSize), client.Continue(token)})
		if err := reader.List(ctx, page, pageOptions...); err != nil {
			return fmt.Errorf("listing %s: %w", pluralKind(list), err)
		}
		if !visit(page) || page.GetContinue() == "" {
			return nil
		}
		if page.GetContinue() == token {
			return fmt.Errorf("listing %s: the API server gives the same page again and again", pluralKind(list))
		}
		token = page.GetContinue()
	}
	return fmt.Errorf("listing %s: there are more than %d pages of %d", pluralKind(list), maxPages, pageSize)
}

// pluralKind is e.g. "SecretBindings" for a list of them.
func pluralKind(list client.ObjectList) string {
	name := reflect.TypeOf(list).Elem().Name()
	return strings.TrimSuffix(name, "List") + "s"
}
