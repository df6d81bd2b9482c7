/* A library that declares no plugins. */
int no_plugin = 1;
