package controller

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
)

// CacheOptions say what of the API server's objects an operator watches: those of these namespaces, and of all of them without any. In
// others it needs no rights, and does nothing. Other people's pods and claims are none of its business, and there may be many.
func CacheOptions(namespaces ...string) (cache.Options, error) {
	ours, err := labels.NewRequirement(v1alpha1.LabelCluster, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, err
	}
	selected := cache.ByObject{Label: labels.NewSelector().Add(*ours)}
	options := cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: selected, &corev1.PersistentVolumeClaim{}: selected}}
	for _, namespace := range namespaces {
		if options.DefaultNamespaces == nil {
			options.DefaultNamespaces = map[string]cache.Config{}
		}
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	return options, nil
}
