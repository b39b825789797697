// Package schema checks request bodies as the JSON schemas of Nova and Cinder do, and words what is wrong as Python does. It knows no
// resource and no service.
package schema
