// Package schema validates request bodies by the JSON schemas of Nova and Cinder, with Python's messages. It must not depend on a resource or
// service.
package schema
