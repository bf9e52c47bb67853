/* sim_show.h - see sim_hide.h. */
PGS_HIDDEN(PGS_SHOW)
