# shellcheck shell=bash
# Completes the command lines of thumbjob in bash. The program itself knows its words; bash completes paths.

_thumbjob() {
  local typed=$2 whole=() word last='' candidate paths name
  # Bash splits words at = and :, and the program wants them whole.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}" "$typed"; do
    if [[ ${#whole[@]} -gt 0 && ( $last == *[=:] || $word == [=:]* ) ]]; then
      whole[-1]+=$word
    else
      whole+=("$word")
    fi
    last=$word
  done
  # The part of the last word that bash leaves as it is.
  local kept=${whole[-1]%"$typed"}
  COMPREPLY=()
  {
    IFS= read -r paths
    while IFS=$'\t' read -r candidate _; do
      [[ $candidate == "${whole[-1]}"* ]] && COMPREPLY+=("${candidate#"$kept"}")
    done
  } < <(command "${1/#~\//$HOME/}" ---complete "${whole[@]}" 2>/dev/null)

  [[ $paths == none ]] && return
  compopt -o filenames
  if [[ $paths == files ]]; then
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$typed")
    return
  fi
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$typed")
  [[ $paths == folders ]] && return
  # Of all files those with one of the extensions, or all if there is none.
  local files=() extensions=" ${paths#files } "
  mapfile -t files < <(compgen -f -- "$typed")
  for name in "${files[@]}"; do
    word=${name##*.}
    [[ $name == *.* && $extensions == *" ${word,,} "* && ! -d ${name/#~\//$HOME/} ]] && COMPREPLY+=("$name")
  done
  [[ ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=("${files[@]}")
} && complete -F _thumbjob thumbjob
