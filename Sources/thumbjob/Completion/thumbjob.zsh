#compdef thumbjob
# Completes the command lines of thumbjob in zsh. The program itself knows its words; zsh completes paths.

_thumbjob() {
  local -a answer candidates
  local line word about result=1
  answer=("${(@f)$(command ${words[1]/#\~\//$HOME/} ---complete "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
  for line in "${(@)answer[2,-1]}"; do
    word=${line%%$'\t'*} about=${line#*$'\t'}
    candidates+=("${word//:/\\:}${about:+:$about}")
  done
  (( $#candidates )) && _describe 'thumbjob' candidates && result=0
  [[ $answer[1] == none ]] && return result
  # The value of --option=VALUE.
  [[ $PREFIX == --*=* ]] && compset -P '*='
  case $answer[1] in
    folders) _files -/ && result=0 ;;
    files) _files && result=0 ;;
    files\ *) _files -g "*.(#i)(${(j:|:)${(s: :)${answer[1]#files }}})" && result=0 ;;
  esac
  return result
}

# Completion loads this file as the body of the function when it is first needed; `source` runs it as a script.
if [[ $funcstack[1] == _thumbjob ]]; then
  _thumbjob "$@"
else
  compdef _thumbjob thumbjob
fi
