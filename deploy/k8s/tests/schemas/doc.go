// Command schemas cuts the JSON schemas of the kinds that the manifests use from
// the full ones: swagger.json of the module k8s.io/kubernetes and schema.json of
// Argo Workflows. Descriptions go, and fields that a schema does not know are
// refused, which the originals leave open.
package main
