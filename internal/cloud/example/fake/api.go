package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// handler serves the API.
func (c *Cloud) handler() http.Handler {
	mux := http.NewServeMux()
	for _, kind := range []string{Networks, Subnets, Groups, Servers} {
		mux.HandleFunc("GET /"+kind, func(w http.ResponseWriter, r *http.Request) { c.serveList(w, r, kind) })
		mux.HandleFunc("POST /"+kind, func(w http.ResponseWriter, r *http.Request) { c.serveCreate(w, r, kind) })
		mux.HandleFunc("DELETE /"+kind+"/{id}", func(w http.ResponseWriter, r *http.Request) { c.serveDelete(w, kind, r.PathValue("id")) })
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+Key {
			refuse(w, http.StatusUnauthorized, "Unauthenticated", "the key is unknown")
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (c *Cloud) serveList(w http.ResponseWriter, r *http.Request, kind string) {
	name, owner := r.URL.Query().Get("name"), r.URL.Query().Get("owner")
	selected := []Resource{}
	for _, resource := range c.Resources() {
		if resource.Kind == kind && (name == "" || resource.Name == name) && (owner == "" || resource.Owner == owner) {
			resource.UserData = nil
			selected = append(selected, resource)
		}
	}
	respond(w, http.StatusOK, selected)
}

func (c *Cloud) serveCreate(w http.ResponseWriter, r *http.Request, kind string) {
	var resource Resource
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&resource); err != nil {
		refuse(w, http.StatusBadRequest, "Invalid", err.Error())
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	resource.Kind = kind
	if problem := c.problemOf(resource); problem != "" {
		refuse(w, http.StatusUnprocessableEntity, "Invalid", problem)
		return
	}
	c.serial++
	resource.ID = fmt.Sprintf("%s-%d", kind, c.serial)
	c.resources = append(c.resources, resource)
	respond(w, http.StatusCreated, resource)
}

// problemOf returns why a resource cannot be created, or nothing. The caller holds the lock.
func (c *Cloud) problemOf(resource Resource) string {
	needsNetwork := resource.Kind == Subnets || resource.Kind == Servers
	switch {
	case resource.ID != "":
		return "the cloud chooses the ID"
	case resource.Name == "":
		return "a name is required"
	case needsNetwork && c.get(Networks, resource.Network) == nil:
		return fmt.Sprintf("there is no network %q", resource.Network)
	case resource.Group != "" && c.get(Groups, resource.Group) == nil:
		return fmt.Sprintf("there is no group %q", resource.Group)
	default:
		return ""
	}
}

// serveDelete refuses to delete a network with subnets or servers, and a group with servers.
func (c *Cloud) serveDelete(w http.ResponseWriter, kind, id string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.get(kind, id) == nil {
		refuse(w, http.StatusNotFound, "NotFound", "there is no such resource")
		return
	}
	if user := c.find(func(r Resource) bool { return r.Network == id || r.Group == id }); user != nil {
		refuse(w, http.StatusConflict, "InUse", fmt.Sprintf("it is used by %s (%s)", user.ID, user.Name))
		return
	}
	c.resources = slices.DeleteFunc(c.resources, func(r Resource) bool { return r.Kind == kind && r.ID == id })
	w.WriteHeader(http.StatusNoContent)
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	respond(w, status, map[string]string{"code": code, "message": message})
}

func respond(w http.ResponseWriter, status int, body any) {
	content, err := json.Marshal(body)
	if err != nil {
		status, content = http.StatusInternalServerError, nil
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(content) // it fails if the client has closed the connection
}
